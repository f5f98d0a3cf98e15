"""No line of code is wider than WIDTH columns. What is made, or recorded, is no code."""

WIDTH = 120


def check(tree):
    for name in tree.code():
        for number, line in enumerate(tree.lines(name), 1):
            if len(line) > WIDTH:
                yield f'{name}:{number}: a line of {len(line)} columns; at most {WIDTH}'
