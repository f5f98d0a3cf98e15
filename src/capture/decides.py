# What comes of a value that a Python program reads back: "size", "loop", "branch", or "" where nothing that
# memory depends on is seen to. `decides(frame, is_integer)` looks at the expression that the frame is just
# evaluating (Python 3.11 and later know where it stands) and follows the value through the syntax: through
# arithmetic and comparisons, into variables of the same function, and back to the caller.
import ast
import linecache

THROUGH = {'int', 'float', 'bool', 'abs', 'round', 'min', 'max', 'len', 'sum', 'any', 'all', 'sorted', 'list', 'tuple',
           'divmod', 'pow',
           'isnan', 'isinf', 'isfinite', 'isclose', 'ceil', 'floor', 'sqrt', 'log', 'log2', 'log10', 'exp', 'item',
           'tolist', 'numpy', 'cpu', 'reversed', 'enumerate', 'zip', 'set'}
SHOWN = {'print', 'str', 'repr', 'format', 'append', 'extend', 'add', 'update', 'info', 'debug', 'warning', 'error',
         'write', 'set_postfix',
         'set_description', 'add_scalar', 'log_metric', 'log_dict', 'put', 'insert', 'dumps', 'dump', 'isinstance',
         'type', 'id', 'join'}
MOST_FRAMES = 6
trees = {}


class Module:
    def __init__(self, filename):
        self.tree = ast.parse(''.join(linecache.getlines(filename)))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.places = {}
        for node in ast.walk(self.tree):
            if hasattr(node, 'end_col_offset'):
                # The outermost of several that stand at one place.
                self.places.setdefault((node.lineno, node.end_lineno, node.col_offset, node.end_col_offset), node)


def module_of(filename):
    if filename not in trees:
        try:
            trees[filename] = Module(filename)
        except Exception:
            trees[filename] = None
    return trees[filename]


def node_of(frame):
    module = module_of(frame.f_code.co_filename)
    if module is None:
        return None, None
    positions = list(frame.f_code.co_positions())
    place = positions[frame.f_lasti // 2]
    return module, module.places.get((place[0], place[1], place[2], place[3]))


def name_of(function):
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ''


def leaves_a_loop(node, parents):
    leaves = any(isinstance(inner, (ast.Break, ast.Return)) for inner in ast.walk(node))
    while leaves and node in parents and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        node = parents[node]
        if isinstance(node, (ast.While, ast.For)):
            return True
    return False


def uses_of(name, node, parents):
    while node in parents and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        node = parents[node]
    return [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id == name
            and isinstance(inner.ctx, ast.Load)]


def follow(node, parents, is_integer, seen):
    """The decision, or "return" where the caller gets the value."""
    while node in parents:
        if node in seen:
            return ''
        seen.add(node)
        parent = parents[node]
        if isinstance(parent, (ast.If, ast.IfExp)) and parent.test is node:
            return 'loop' if leaves_a_loop(parent, parents) else 'branch'
        if isinstance(parent, ast.While):
            return 'loop'
        if isinstance(parent, (ast.Assert, ast.Match)) or isinstance(parent, ast.comprehension) and node in parent.ifs:
            return 'branch'
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            return 'loop'
        if isinstance(parent, ast.Slice) or isinstance(parent, ast.Subscript) and parent.slice is node:
            return 'size'
        if isinstance(parent, ast.Return):
            return 'return'
        if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    found = [follow(use, parents, is_integer, seen) for use in uses_of(target.id, parent, parents)]
                    for decision in ('loop', 'size', 'branch', 'return'):
                        if decision in found:
                            return decision
            if not isinstance(parent, ast.NamedExpr):
                return ''
        if isinstance(parent, (ast.Expr, ast.JoinedStr, ast.FormattedValue)):
            return ''
        if isinstance(parent, ast.keyword):
            node, parent = parent, parents[parent]
        if isinstance(parent, ast.Call) and parent.func is not node:
            name = name_of(parent.func)
            if name == 'range':
                return 'loop'
            if name in SHOWN:
                return ''
            if name not in THROUGH:
                return 'size' if is_integer else ''
        if isinstance(parent, ast.stmt):
            return ''
        node = parent
    return ''


def decides(frame, is_integer):
    for _ in range(MOST_FRAMES):
        if frame is None or not hasattr(frame.f_code, 'co_positions'):
            break
        module, node = node_of(frame)
        if node is None:
            break
        decision = follow(node, module.parents, is_integer, set())
        if decision != 'return':
            return decision
        frame = frame.f_back
    return None
