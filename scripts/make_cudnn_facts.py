#!/usr/bin/env python3
"""Turn recorded cuDNN answers into the facts that the virtual GPU looks up.

    make_cudnn_facts.py GPU CUDNN_VERSION RECORD... > src/vgpu/workspaces/GPU-cudnn-VERSION.facts

A RECORD is a text file (or .xz) with one answer a line:
    E <workspace bytes> st<status>[eng<engine>[,<knob>=<value>...]] <operation graph as backend descriptors>
    BNF|BNB|BNR mode M dt TYPE dim/stride... ws|rs BYTES      batch norm: forward, backward, reserve
    RNN mode M rnn(...) data(...) ws BYTES rs BYTES           RNN workspace and reserve
    RNNW rnn(...) BYTES                                       RNN weight space
    DROPST BYTES                                              dropout state
or a file of facts, such as scripts/record_cudnn.py writes and this script itself. Where two differ the first one
stands, and stderr says so. A graph whose descriptors were not recorded whole is left out, and counted on stderr.
docs/facts/cudnn.md describes the output.
"""

import lzma
import re
import sys

TYPES = {0: "f32", 1: "f64", 2: "f16", 4: "i32", 9: "bf16", 10: "i64", 11: "bool"}
CELLS = {0: "relu", 1: "tanh", 2: "lstm", 3: "gru"}
TENSOR, CONVOLUTION, GRAPH = 17, 1, 15
# operation descriptor: the attributes that hold convolution, x, w, y
CONVOLUTIONS = {10: (702, 704, 703, 705), 12: (708, 710, 709, 711), 11: (714, 716, 715, 717)}
ORDER = [10, 12, 11]


def parse(text):
    """A backend descriptor, {type:attribute=value,...;}, as (type, {attribute: [values]})."""
    number = re.compile(r"\d+")

    def descriptor(at):
        match = number.match(text, at + 1)
        kind, at, attributes = int(match.group()), match.end() + 1, {}
        while text[at] != "}":
            match = number.match(text, at)
            at = match.end() + 1
            values = []
            if text[at] == "{":
                while text[at] == "{":
                    value, at = descriptor(at)
                    values.append(value)
                    at += text[at] == ","
            else:
                end = text.index(";", at)
                values, at = text[at:end].split(","), end
            attributes[int(match.group())] = values
            at += 1
        return (kind, attributes), at + 1

    return descriptor(0)[0]


def ints(values):
    return tuple(int(v) for v in values)


class Incomplete(Exception):
    """The record does not hold the whole problem."""


class Tensor:
    """Data type, dims, strides of a tensor descriptor; `virtual`: it exists inside the graph alone."""

    def __init__(self, descriptor):
        kind, attributes = descriptor
        if kind != TENSOR or 902 not in attributes or 903 not in attributes:
            raise Incomplete
        self.type = TYPES[int(attributes[901][0])]
        self.dims, self.strides = ints(attributes[902]), ints(attributes[903])
        self.virtual = attributes.get(907) == ["1"]

    def layout(self):
        """nchw, nhwc, or "" when the strides fit both (dimensions of size 1 tell nothing)."""
        fits = []
        for name, order in (("nchw", range(len(self.dims))), ("nhwc", [0, *range(2, len(self.dims)), 1])):
            dense, right = 1, True
            for axis in reversed(list(order)):
                right &= self.dims[axis] == 1 or self.strides[axis] == dense
                dense *= self.dims[axis]
            if right:
                fits.append(name)
        if not fits:
            raise Incomplete
        return fits[0] if len(fits) == 1 else ""


def by(values):
    return "x".join(str(v) for v in values)


def convolution(operation):
    """-> (section, problem): e.g. ("conv bf16 nhwc", "32x3x224x224 -> 64 k7x7 p3x3 s2x2")."""
    kind, attributes = operation
    where, *tensors = CONVOLUTIONS[kind]
    descriptor, (x, w, y) = attributes[where][0], (Tensor(attributes[a][0]) for a in tensors)
    if descriptor[0] != CONVOLUTION or 102 not in descriptor[1]:
        raise Incomplete
    dilation, stride, after, before = (ints(descriptor[1][a]) for a in (102, 103, 104, 105))
    layouts = {t.layout() for t in (x, w, y)} - {""} or {"nchw"}
    output = tuple((size + 2 * p - d * (k - 1) - 1) // s + 1
                   for size, p, d, k, s in zip(x.dims[2:], before, dilation, w.dims[2:], stride))
    if len(layouts) != 1 or before != after or y.dims != (x.dims[0], w.dims[0]) + output:
        raise Incomplete
    problem = f"{by(x.dims)} -> {w.dims[0]} k{by(w.dims[2:])}"
    for letter, values, usual in (("p", before, 0), ("s", stride, 1), ("d", dilation, 1)):
        if any(v != usual for v in values):
            problem += f" {letter}{by(values)}"
    groups = x.dims[1] // w.dims[1]
    return f"conv {x.type} {layouts.pop()}", problem + (f" g{groups}" if groups > 1 else "")


def attention(operations):
    """The facts of an SDPA graph that its workspace can depend on, e.g.
    "sdpa_forward bf16 q=8x12x256x64 k=8x12x256x64 v=8x12x256x64 causal stats"."""
    kind, attributes = operations[0]
    words = []
    if kind == 41:
        q, k, v = (Tensor(attributes[a][0]) for a in (2800, 2801, 2802))
        name, dims = "sdpa_forward", (q.dims, k.dims, v.dims)
        words += ["stats"] if 2804 in attributes else []
        words += ["unified"]
    elif kind == 43:
        q, k, v = (Tensor(attributes[a][0]) for a in (2851, 2852, 2853))
        name, dims = "sdpa_backward", (q.dims, k.dims, v.dims)
        words += ["unified"]
    else:
        products = [a for t, a in operations if t == 19]
        q, k = Tensor(products[0][1520][0]), Tensor(products[0][1521][0])
        batch, heads, rows, columns = Tensor(products[0][1522][0]).dims
        if len(products) == 2:
            name, v = "sdpa_forward", Tensor(products[1][1521][0])
            values = v.dims
        else:
            name = "sdpa_backward"
            elementwise = next(a for t, a in operations if t == 13)
            values = (k.dims[0], k.dims[1], columns, Tensor(elementwise[751][0]).dims[3])
        dims = (q.dims, (k.dims[0], k.dims[1], k.dims[3], k.dims[2]), values)
        pointwise = [a for t, a in operations if t == 13]
        if any(Tensor(a[753][0]).type == "i32" for a in pointwise):
            words.append("causal")
        for a in pointwise:
            if 752 in a:
                other = Tensor(a[752][0])
                if not other.virtual and other.dims[3] == columns and other.dims != (1, 1, 1, 1) and columns > 1:
                    words.append(f"mask={by(other.dims)}")
        if any(t == 33 for t, _ in operations):
            words.append("dropout")
        written = [Tensor(a[at][0]) for t, a in operations for at in (753, 1611) if at in a]
        if len(products) == 2 and any(not t.virtual and t.dims == (batch, heads, rows, 1) for t in written):
            words.append("stats")
    return " ".join([name, q.type] + [f"{n}={by(d)}" for n, d in zip("qkv", dims)] + words)


def batch_norm(fields):
    """BNF mode 1 dt 0 16/100352 128/784 28/28 28/1 ws 0 -> ("batch_norm_forward mode=1 f32 16x128x28x28 nchw", 0)"""
    name = {"BNF": "batch_norm_forward", "BNB": "batch_norm_backward", "BNR": "batch_norm_reserve"}[fields[0]]
    pairs = [ints(f.split("/")) for f in fields[5:-2]]
    tensor = Tensor((TENSOR, {901: [fields[4]], 902: [p[0] for p in pairs], 903: [p[1] for p in pairs]}))
    return f"{name} mode={fields[2]} {tensor.type} {by(tensor.dims)} {tensor.layout() or 'nchw'}", int(fields[-1])


def rnn(text):
    algorithm, cell, bias, direction, start, kind, precision, math, width, hidden, projection, layers, flags = ints(
        text[4:-1].split(","))
    return (f"algorithm={algorithm} {CELLS[cell]} bias={bias} direction={direction} input={start} {TYPES[kind]} "
            f"precision={TYPES[precision]} math={math} width={width} hidden={hidden} projection={projection} "
            f"layers={layers} flags={flags}")


class Facts:
    """What is known: {section: {problem: {operation: (bytes, engine or "")}}} and {key: bytes}."""

    def __init__(self):
        self.sections, self.named, self.left_out = {}, {}, 0

    def differs(self, key, had, new):
        print(f"two answers for one problem, the first one stands: {key}: {had} and {new}", file=sys.stderr)

    def add_named(self, key, value):
        had = self.named.setdefault(key, value)
        if had != value:
            self.differs(key, had, value)

    def add_convolution(self, section, problem, operation, bytes, engine):
        answers = self.sections.setdefault(section, {}).setdefault(problem, {})
        had, its_engine = answers.setdefault(operation, (bytes, engine))
        if had != bytes:
            self.differs(f"{section} {problem}", had, bytes)
        elif not its_engine:
            answers[operation] = (bytes, engine)

    def add_record(self, line):
        fields = line.split()
        if fields[0] == "E":
            status, _, engine = fields[2].split(",")[0].partition("eng")
            operations = parse(fields[3])[1][801]
            try:
                if status != "st0":
                    raise Incomplete
                if operations[0][0] in CONVOLUTIONS:
                    self.add_convolution(*convolution(operations[0]), operations[0][0], fields[1], engine)
                else:
                    self.add_named(attention(operations), int(fields[1]))
            except Incomplete:
                self.left_out += 1
        elif fields[0] in ("BNF", "BNB", "BNR"):
            self.add_named(*batch_norm(fields))
        elif fields[0] == "RNN":
            mode = "training" if fields[2] == "1" else "inference"
            kind, layout, longest, batch, _, total = ints(fields[4][5:-1].split(","))
            key = (f"{mode} {rnn(fields[3])} data={TYPES[kind]} layout={layout} length={longest} batch={batch} "
                   f"total={total}")
            self.add_named(f"rnn_workspace {key}", int(fields[6]))
            if mode == "training" and int(fields[8]):
                self.add_named(f"rnn_reserve {key}", int(fields[8]))
        elif fields[0] == "RNNW":
            self.add_named(f"rnn_weights {rnn(fields[1])}", int(fields[2]))
        elif fields[0] == "DROPST":
            self.add_named("dropout_states", int(fields[1]))

    def add_facts(self, lines):
        section = None
        for line in lines:
            key, _, answer = line.rpartition(": ")
            if line.startswith("["):
                section = line[1:-1]
            elif key and section == "other":
                self.add_named(key, int(answer))
            elif key and section:
                for operation, word in zip(ORDER, answer.split()):
                    bytes, _, engine = word.partition("@")
                    if word != "-":
                        self.add_convolution(section, key, operation, bytes, engine)

    def add_file(self, path):
        with (lzma.open if path.endswith(".xz") else open)(path, "rt") as file:
            lines = [line.rstrip("\n") for line in file]
        if lines and lines[0].startswith("#"):
            self.add_facts(lines[1:])
        else:
            for line in lines:
                self.add_record(line)

    def write(self, gpu, version):
        print(f"# What cuDNN {version} answered on a {gpu}; docs/facts/cudnn.md describes the lines.")
        print(f"gpu {gpu}\ncudnn {version}\n")
        for section in sorted(self.sections):
            print(f"[{section}]")
            problems = self.sections[section]
            for problem in sorted(problems, key=lambda p: (p.count("x"), ints(re.findall(r"\d+", p)))):
                answers = problems[problem]
                words = ("@".join(filter(None, answers[o])) if o in answers else "-" for o in ORDER)
                print(f"{problem}: {' '.join(words)}")
            print()
        print("[other]")
        for key in sorted(self.named):
            print(f"{key}: {self.named[key]}")
        count = sum(len(a) for s in self.sections.values() for a in s.values())
        print(f"{count} convolutions, {len(self.named)} others; {self.left_out} incomplete graphs left out",
              file=sys.stderr)


def main(gpu, version, *paths):
    facts = Facts()
    for path in paths:
        facts.add_file(path)
    facts.write(gpu, version)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
