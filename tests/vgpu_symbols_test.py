"""The virtual GPU's libraries have every function that PyTorch needs, and can be loaded into any program."""

import argparse
import fnmatch
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import vgpu_symbols  # noqa: E402

ALLOWED = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}


def missing_functions(torch, asked, folder):
    problems = []
    for name, functions in vgpu_symbols.needed_of(torch, asked).items():
        path = folder / vgpu_symbols.LIBRARIES[name].soname
        if not path.exists():
            problems.append(f"{path.name}: not built")
            continue
        defined = {(symbol.name, symbol.version) for symbol in vgpu_symbols.Elf(path).symbols(defined=True)}
        problems += [
            f"{path.name}: no {function}{'@@' + version if version else ''}, needed by {who}"
            for function, (version, who) in functions.items()
            if (function, version) not in defined
        ]
    return problems


def allowed_exports(path):
    """The patterns of what that library may export: its vendor names, or what the core's version script lists."""
    for library in vgpu_symbols.LIBRARIES.values():
        if library.soname == path.name:
            return [pattern.strip() for pattern in library.exports.split(";")]
    script = (ROOT / "src" / "vgpu" / "device" / "exports.map").read_text()
    return [name.strip() for name in script.split("global:")[1].split("local:")[0].split(";")]


def unfit_for_preloading(path):
    elf = vgpu_symbols.Elf(path)
    problems = [f"{path.name}: needs {needed}" for needed in elf.dynamic(1) if needed not in ALLOWED]
    problems += [f"{path.name}: has a run path" for _ in elf.dynamic(15) + elf.dynamic(29)]
    if elf.dynamic(14) != [path.name]:
        problems.append(f"{path.name}: its soname is {elf.dynamic(14)}")
    patterns = allowed_exports(path)
    problems += [
        f"{path.name}: exports {symbol.name}"
        for symbol in elf.symbols(defined=True)
        if symbol.name != symbol.version and not any(fnmatch.fnmatchcase(symbol.name, pattern) for pattern in patterns)
    ]
    undefined = [symbol for symbol in elf.symbols(defined=False) if not symbol.version]
    harmless = ("tmv_", "_ITM_", "__gmon_start__", "__cxa_finalize")
    problems += [f"{path.name}: leaves {symbol.name} undefined" for symbol in undefined
                 if not symbol.name.startswith(harmless)]
    return problems


def constructors(path):
    """The file's functions that run as it is loaded, but for libstdc++'s own (its pool for exceptions)."""
    names = [name for name in vgpu_symbols.Elf(path).local_names() if name.startswith("_GLOBAL__sub_I_")]
    return [name for name in names if "__gnu_cxx9__freeres" not in name and not name.endswith("_eh_alloc.cc")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torch", required=True, type=Path)
    parser.add_argument("--asked", required=True, type=Path)
    parser.add_argument("--libraries", required=True, type=Path)
    arguments = parser.parse_args()
    problems = missing_functions(arguments.torch, vgpu_symbols.read_asked(arguments.asked), arguments.libraries)
    listed = (arguments.libraries / "preload.list").read_text().split()
    if listed[0] != "libtorchmem_vgpu.so":
        problems.append(f"preload.list: begins with {listed[0]}, not with the core")
    for name in listed:
        problems += unfit_for_preloading(arguments.libraries / name)
        problems += [f"{name}: static constructor {found}" for found in constructors(arguments.libraries / name)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(listed)} libraries, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
