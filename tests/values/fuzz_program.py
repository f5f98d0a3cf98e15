"""Makes one random program: lines of Python that run, on tensors that the program made."""

import re

import torch

from fuzz_operators import NOT_CAPTURED, TABLES, WEIGHTS

INTEGERS = ("int64", "int32", "uint8")
FLOATS = ("float32", "float64")
SUBJECTS = ("a", "i", "n", "b", "f", "f32", "i64", "w", "wi", "wn", "wb", "wf")


# A block of writes that a CUDA graph replays; on the CPU it is called as often.
GRAPH = """\
def block():
    {}
if device == "cuda":
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        block()
    block = graph.replay
block()
block()"""


class Impossible(Exception):
    """No tensor fits a template."""


def offsets(tensor):
    """The place of each element in its storage."""
    return torch.arange(tensor.untyped_storage().nbytes() // tensor.element_size() + 1).as_strided(
        tensor.shape, tensor.stride(), tensor.storage_offset()
    )


def writable(tensor):
    return tensor.numel() > 0 and offsets(tensor).unique().numel() == tensor.numel()


def shares(one, other):
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()


def broadcasts(shape, onto):
    return len(shape) <= len(onto) and all(a in (1, b) for a, b in zip(shape[::-1], onto[::-1]))


class Maker:
    """Makes one program, running each line on the CPU to know what the next one may do."""

    def __init__(self, generator):
        self.random = generator
        self.scope = {"torch": torch, "device": "cpu"}
        self.lines, self.tensors, self.reads, self.used = [], [], [], []

    def make(self):
        for _ in range(self.random.randint(2, 3)):
            self.add_tensor(self.literal(), "literal")
        wanted = self.random.randint(5, 20)
        for _ in range(10 * wanted):
            if len(self.lines) >= wanted:
                break
            kind = self.random.choices(list(WEIGHTS), WEIGHTS.values())[0]
            template = self.random.choice(TABLES[kind])
            try:
                source = self.filled(template)
            except Impossible:
                continue
            if kind == "write" and self.random.random() < 0.04:
                self.add_graph()
            elif kind == "write":
                self.run(source, template)
            elif kind == "read":
                self.add_read(source, template)
            else:
                self.add_tensor(source, template)
        return self.lines

    def run(self, line, template):
        try:
            exec(line, self.scope)
        except Exception:  # not for these shapes or types; PyTorch says so on both devices
            # A part of it may have been done.
            self.scope = {"torch": torch, "device": "cpu"}
            exec("\n".join(self.lines), self.scope)
            return False
        self.lines.append(line)
        self.used.append(template)
        return True

    def add_tensor(self, source, template):
        name = f"t{len(self.tensors)}"
        if not self.run(f"{name} = {source}", template):
            self.scope.pop(name, None)
        elif self.scope[name].numel() > 2000 or self.scope[name].dim() > 5:
            self.lines.pop()
            self.used.pop()
            del self.scope[name]
        else:
            self.tensors.append(name)

    def add_read(self, source, template):
        name = f"r{len(self.reads)}"
        if self.run(f"{name} = {source}", template):
            self.reads.append(name)

    def add_graph(self):
        block = []
        for _ in range(self.random.randint(1, 4)):
            try:
                source = self.filled(self.random.choice(TABLES["write"]))
            except Impossible:
                continue
            if not any(word in source for word in NOT_CAPTURED):
                block.append(source)
        if block:
            self.run(GRAPH.format("\n    ".join(block)), "graph")

    def number(self):
        return self.random.randint(-5, 9)

    def literal(self):
        dtype = self.random.choice(("int64", "int64", "int32", "uint8", "bool", "float32", "float32", "float64"))
        shape = [self.random.choice((1, 2, 3, 3, 4, 5, 7)) for _ in range(self.random.choice((0, 1, 1, 2, 2, 2, 3)))]
        if self.random.random() < 0.03 and shape:
            shape[-1] = 0

        def value():
            if dtype == "bool":
                return self.random.random() < 0.5
            if dtype == "uint8":
                return self.random.randint(0, 20)
            if dtype in FLOATS:
                special = ('float("nan")', 'float("inf")', "-0.0")
                return self.random.choice(special) if self.random.random() < 0.04 else self.random.randint(-40, 40) / 8
            return self.random.randint(-9, 20)

        def nested(sizes):
            return str(value()) if not sizes else "[" + ", ".join(nested(sizes[1:]) for _ in range(sizes[0])) + "]"

        return f"torch.tensor({nested(shape)}, dtype=torch.{dtype}, device=device)"

    def is_kind(self, name, kind):
        dtype = str(self.scope[name].dtype).removeprefix("torch.")
        return {
            "a": True,
            "i": dtype in INTEGERS,
            "n": dtype in INTEGERS or dtype == "bool",
            "b": dtype == "bool",
            "f": dtype in FLOATS,
            "f32": dtype == "float32",
            "i64": dtype == "int64",
        }[kind]

    def choose(self, names):
        if not names:
            raise Impossible
        # Younger ones more often, so that values go a long way.
        return self.random.choices(names, range(1, len(names) + 1))[0]

    def filled(self, template):
        self.subject = self.written = self.dimension = self.last = None
        words = [word for word in re.findall(r"\{(\w+)\}", template) if word in SUBJECTS]
        if words:
            self.fill(words[0], None)
        elif self.tensors:
            self.subject = self.choose(self.tensors)
        return re.sub(r"\{(\w+)(:same)?\}", lambda match: str(self.fill(*match.groups())), template)

    def fill(self, word, same):
        if word == "s":
            return self.number()
        if word == "p":
            self.last = self.random.randint(1, 6)
            return self.last
        if word == "last_p":
            return self.last
        if word == "r":
            return self.choose(self.reads)
        if word in ("a", "i", "n", "b", "f", "f32", "i64"):
            return self.tensor(word, same)
        if word in ("w", "wi", "wn", "wb", "wf"):
            if self.written is None:
                kind = word[1:] or "a"
                fitting = [name for name in self.tensors if self.is_kind(name, kind) and writable(self.scope[name])]
                self.written = self.subject = self.choose(fitting)
            return self.written
        if word == "m":
            return self.mask()
        if word.startswith("o"):
            return self.operand(*(word[1:].split("_") + [""])[:2])
        return self.place(word)

    def tensor(self, kind, same):
        fitting = [name for name in self.tensors if self.is_kind(name, kind)]
        if same:
            shape = self.scope[self.subject].shape
            fitting = [name for name in fitting if self.scope[name].shape == shape]
            return self.choose(fitting)
        if self.subject is None:
            self.subject = self.choose(fitting)
            return self.subject
        # Once more the same letter is the subject itself, if it is of that kind.
        if self.written is None and self.is_kind(self.subject, kind):
            return self.subject
        return self.safe(self.choose(fitting))

    def safe(self, name):
        """An operand of a write: not the written memory in another place."""
        if self.written is None or name == self.written:
            return name
        return f"{name}.clone()" if shares(self.scope[name], self.scope[self.written]) else name

    def mask(self):
        shape = self.scope[self.subject].shape
        fitting = [name for name in self.tensors if self.is_kind(name, "b") and self.scope[name].shape == shape]
        if fitting and self.random.random() < 0.5:
            return self.safe(self.choose(fitting))
        return f"({self.subject} > {self.number()})"

    def operand(self, kind, form):
        kind = kind or "a"
        shape = self.scope[self.subject].shape
        fitting = [
            name for name in self.tensors if self.is_kind(name, kind) and broadcasts(self.scope[name].shape, shape)
        ]
        if fitting and (form or self.random.random() < 0.7):
            return self.safe(self.choose(fitting))
        if form:
            raise Impossible
        if kind == "b":
            return self.random.choice(("True", "False"))
        if kind == "f":
            return self.random.choice(
                ("0.5", "-1.5", "3", "torch.tensor(0.25)", "torch.tensor(2.0, dtype=torch.float64)")
            )
        if self.reads and self.random.random() < 0.3:
            return self.choose(self.reads)
        number = self.number()
        return self.random.choice((number, number, f"torch.tensor({number})", f"torch.tensor({number}, device=device)"))

    def place(self, word):
        """{d}, {k} and {at}: of the subject's chosen dimension; with 0, last or flat after it, of that one."""
        subject = self.scope[self.subject]
        if subject.dim() == 0 or subject.numel() == 0:
            raise Impossible
        if self.dimension is None:
            self.dimension = self.random.randrange(subject.dim())
        if word == "d":
            return self.random.choice((self.dimension, self.dimension - subject.dim()))
        match = re.fullmatch(r"(k|at)_?(0|last|flat|rows)?", word)
        size = {
            None: subject.shape[self.dimension],
            "0": subject.shape[0],
            "last": subject.shape[-1],
            "flat": subject.numel(),
            "rows": subject[None].flatten(0, -2).shape[0],
        }[match[2]]
        if match[1] == "k":
            return self.random.randrange(size)
        integers = [name for name in self.tensors if self.is_kind(name, "i")]
        if integers and self.random.random() < 0.5:
            name = self.safe(self.choose(integers))
            return f"({name}.flatten()[:6].long().abs() % {size})"
        places = [self.random.randrange(size) for _ in range(self.random.randint(1, 4))]
        return f"torch.tensor({places}, device=device)"
