#!/usr/bin/env python3
"""What PyTorch needs of the vendor's libraries, and the stubs for what the virtual GPU does not model.

    vgpu_symbols.py --torch DIR --asked FILE --output DIR

Reads the dynamic symbol tables of DIR/lib/*.so (DIR is the folder of the Python package torch) and writes for each
library of LIBRARIES:

    NAME.symbols         one needed function a line: name, version node or "-", who needs it
    NAME.map             the linker's version script
    NAME_unmodelled.c    a weak definition of each of them, which counts itself and returns the library's own
                         not-supported status

Functions that programs ask for by name at run time are in no symbol table; FILE lists them ("library name" a line).
"""

import argparse
import mmap
import re
import struct
import sys
from pathlib import Path
from typing import NamedTuple


class Library(NamedTuple):
    soname: str
    names: str  # what its functions' names match: decides where an unversioned symbol belongs
    exports: str  # the linker's patterns for functions that only we define
    status: int  # what an unmodelled function returns
    source: str  # where that number comes from


LIBRARIES = {
    "cudart": Library("libcudart.so.13", r"cuda[A-Z]|__cuda", "cuda*; __cuda*", 801,
                      "cudaErrorNotSupported, driver_types.h"),
    "driver": Library("libcuda.so.1", r"cu(?!File)[A-Z]", "cu[A-Z]*", 801, "CUDA_ERROR_NOT_SUPPORTED, cuda.h"),
    "cublas": Library("libcublas.so.13", r"cublas(?!Lt)", "cublas*", 15, "CUBLAS_STATUS_NOT_SUPPORTED, cublas_api.h"),
    "cublaslt": Library("libcublasLt.so.13", r"cublasLt", "cublasLt*", 15, "CUBLAS_STATUS_NOT_SUPPORTED, cublas_api.h"),
    "cudnn": Library("libcudnn.so.9", r"cudnn", "cudnn*", 3000, "CUDNN_STATUS_NOT_SUPPORTED, cudnn_graph.h"),
    "cufft": Library("libcufft.so.12", r"cufft", "cufft*", 16, "CUFFT_NOT_SUPPORTED, cufft.h"),
    "curand": Library("libcurand.so.10", r"curand", "curand*", 999,
                      "CURAND_STATUS_INTERNAL_ERROR, curand.h (has no not-supported)"),
    "cusparse": Library("libcusparse.so.12", r"cusparse(?!Lt)", "cusparse*", 10,
                        "CUSPARSE_STATUS_NOT_SUPPORTED, cusparse.h"),
    "cusparselt": Library("libcusparseLt.so.0", r"cusparseLt", "cusparseLt*", 10,
                          "CUSPARSE_STATUS_NOT_SUPPORTED, cusparse.h"),
    "cusolver": Library("libcusolver.so.12", r"cusolver", "cusolver*", 9,
                        "CUSOLVER_STATUS_NOT_SUPPORTED, cusolver_common.h"),
    "nccl": Library("libnccl.so.2", r"nccl", "nccl*", 3, "ncclInternalError, nccl.h (has no not-supported)"),
    "cupti": Library("libcupti.so.13", r"cupti", "cupti*", 27, "CUPTI_ERROR_NOT_SUPPORTED, cupti_result.h"),
    "cufile": Library("libcufile.so.0", r"cuFile", "cuFile*", 5007,
                      "CU_FILE_PLATFORM_NOT_SUPPORTED, cuFile API reference"),
    "nvrtc": Library("libnvrtc.so.13", r"nvrtc", "nvrtc*", 11,
                     "NVRTC_ERROR_INTERNAL_ERROR, nvrtc.h (has no not-supported)"),
    "nvshmem": Library("libnvshmem_host.so.3", r"nvshmem", "nvshmem*", 3,
                       "NVSHMEMX_ERROR_NOT_SUPPORTED, NVSHMEM API documentation"),
    "nvml": Library("libnvidia-ml.so.1", r"nvml", "nvml*", 3, "NVML_ERROR_NOT_SUPPORTED, NVML API reference"),
}

# Functions that do not return a status.
TEXT = re.compile(
    r"(cuda|cudnn|cusparse|nccl|nvrtc|nvml|cublas|cusparseLt)\w*(Error|Status)(String|Name)$|ncclGetLastError$")
RETURNS = {
    "nvshmem_malloc": ("void*", "0"),
    "nvshmem_ptr": ("void*", "0"),
    "nvshmemx_mc_ptr": ("void*", "0"),
    "nvshmem_team_n_pes": ("int", "-1"),
    "cuFileRead": ("long", "-5007"),
    "cuFileWrite": ("long", "-5007"),
}


class Symbol(NamedTuple):
    name: str
    version: str  # "" where it has none
    soname: str  # of the library that the version comes from; "" where not known
    defined: bool


class Elf:
    """The dynamic section and symbols of a 64-bit little-endian ELF file."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"{path}: not a 64-bit little-endian ELF file")
        section_offset, = struct.unpack_from("<Q", self.data, 0x28)
        entry_size, count = struct.unpack_from("<HH", self.data, 0x3A)
        self.sections = [
            struct.unpack_from("<IIQQQQIIQQ", self.data, section_offset + index * entry_size) for index in range(count)
        ]

    def section(self, kind):
        """(offset, size, linked section's index) of the first section of that type."""
        for _, section_type, _, _, offset, size, link, _, _, _ in self.sections:
            if section_type == kind:
                return offset, size, link
        return 0, 0, 0

    def _strings(self, index):
        _, _, _, _, offset, size, _, _, _, _ = self.sections[index]
        return self.data[offset : offset + size]

    @staticmethod
    def _text(strings, offset):
        return strings[offset : strings.index(b"\0", offset)].decode()

    def dynamic(self, tag):
        """The strings of a tag of the dynamic section: 1 is NEEDED, 14 SONAME, 15 RPATH, 29 RUNPATH."""
        offset, size, link = self.section(6)
        strings = self._strings(link) if size else b""
        entries = struct.iter_unpack("<QQ", self.data[offset : offset + size])
        return [self._text(strings, value) for entry_tag, value in entries if entry_tag == tag]

    def versions(self):
        """{index: (version node, soname or "" for the file's own)}"""
        found = {}
        offset, size, link = self.section(0x6FFFFFFE)
        strings = self._strings(link) if size else b""
        while size:
            _, count, file_name, aux, following = struct.unpack_from("<HHIII", self.data, offset)
            soname = self._text(strings, file_name)
            at = offset + aux
            for _ in range(count):
                _, _, index, name, after = struct.unpack_from("<IHHII", self.data, at)
                found[index & 0x7FFF] = (self._text(strings, name), soname)
                at += after
            if not following:
                break
            offset += following
        offset, size, link = self.section(0x6FFFFFFD)
        strings = self._strings(link) if size else b""
        while size:
            _, _, index, _, _, aux, following = struct.unpack_from("<HHHHIII", self.data, offset)
            name, _ = struct.unpack_from("<II", self.data, offset + aux)
            found[index & 0x7FFF] = (self._text(strings, name), "")
            if not following:
                break
            offset += following
        return found

    def local_names(self):
        """Every name in the full symbol table; empty when the file was stripped."""
        offset, size, link = self.section(2)
        strings = self._strings(link) if size else b""
        entries = struct.iter_unpack("<IBBHQQ", self.data[offset : offset + size])
        return [self._text(strings, name) for name, *_ in entries]

    def symbols(self, defined):
        """The global and weak dynamic symbols that this file defines, or those that it needs."""
        offset, size, link = self.section(11)
        strings = self._strings(link) if size else b""
        version_offset, version_size, _ = self.section(0x6FFFFFFF)
        indexes = memoryview(self.data[version_offset : version_offset + version_size]).cast("H")
        versions = self.versions()
        found = []
        entries = struct.iter_unpack("<IBBHQQ", self.data[offset : offset + size])
        for number, (name, info, _, section, _, _) in enumerate(entries):
            if name == 0 or info >> 4 == 0 or (section != 0) != defined:
                continue
            index = indexes[number] & 0x7FFF if number < len(indexes) else 0
            version, soname = versions.get(index, ("", "")) if index > 1 else ("", "")
            found.append(Symbol(self._text(strings, name), version, soname, defined))
        return found


def library_of_name(function):
    return next((name for name, library in LIBRARIES.items() if re.match(library.names, function)), None)


def read_asked(path):
    """[(library, function)] of the list of functions that are asked for by name."""
    asked = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or words[0] not in LIBRARIES:
            raise SystemExit(
                f"{path}:{number}: expected 'library function', with library one of {', '.join(LIBRARIES)}")
        asked.append((words[0], words[1]))
    return asked


def needed_of(torch, asked):
    """{library: {function: (version node or "", who needs it)}}"""
    by_soname = {library.soname: name for name, library in LIBRARIES.items()}
    needed = {name: {} for name in LIBRARIES}
    files = sorted(Path(torch, "lib").glob("*.so"))
    if not files:
        raise SystemExit(f"{torch}/lib has no shared libraries: expected the folder of the Python package torch")
    for file in files:
        elf = Elf(file)
        unknown = [name for name in elf.dynamic(1) if re.match(r"lib(cu|nv|nccl)", name) and name not in by_soname]
        if unknown:
            raise SystemExit(f"{file} needs {', '.join(unknown)}, for which the virtual GPU has no library")
        for symbol in elf.symbols(defined=False):
            name = by_soname.get(symbol.soname) or (library_of_name(symbol.name) if not symbol.version else None)
            if name is None:
                continue
            version, who = needed[name].get(symbol.name, ("", ""))
            needed[name][symbol.name] = (symbol.version or version, who or file.name)
    for name, function in asked:
        needed[name].setdefault(function, ("", "asked by name"))
    for name, functions in needed.items():
        nodes = {version for version, _ in functions.values() if version}
        if len(nodes) > 1:
            raise SystemExit(
                f"{LIBRARIES[name].soname} is needed with several version nodes: {', '.join(sorted(nodes))}")
        node = nodes.pop() if nodes else ""
        needed[name] = {function: (node, who) for function, (_, who) in sorted(functions.items())}
    return needed


def stub(name, function):
    status = LIBRARIES[name].status
    returns, value = "int", str(status)
    if function in RETURNS:
        returns, value = RETURNS[function]
    elif TEXT.search(function):
        returns, value = "const char*", '"not supported"'
    return (
        f'STUB {returns} {function}(void) {{\n  tmv_count_unmodelled("{name}", "{function}");\n  return {value};\n}}\n'
    )


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    else:
        path.touch()


def generate(needed, output):
    output.mkdir(parents=True, exist_ok=True)
    for name, functions in needed.items():
        library = LIBRARIES[name]
        nodes = sorted({version for version, _ in functions.values()})
        node = f"{nodes[0]} " if nodes and nodes[0] else ""
        lines = "".join(f"    {function};\n" for function in functions)
        write(output / f"{name}.map", f"{node}{{\n  global:\n{lines}    {library.exports};\n  local: *;\n}};\n")
        write(
            output / f"{name}.symbols",
            "".join(f"{function} {version or '-'} {who}\n" for function, (version, who) in functions.items()),
        )
        stubs = "".join(stub(name, function) for function in functions)
        write(
            output / f"{name}_unmodelled.c",
            f"// What is not modelled of {library.soname}: returns {library.status} ({library.source}).\n"
            "void tmv_count_unmodelled(const char* library, const char* function);\n"
            '#define STUB __attribute__((weak, visibility("default")))\n' + stubs,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", required=True, type=Path)
    parser.add_argument("--asked", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    arguments = parser.parse_args()
    generate(needed_of(arguments.torch, read_asked(arguments.asked)), arguments.output)


if __name__ == "__main__":
    sys.exit(main())
