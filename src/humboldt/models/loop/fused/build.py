"""Compiles the kernels: CUDA C++ from `cuda` to the texts in `ptx`, which are part of the package.

    python -m humboldt.models.loop.fused.build

It needs CUDA's compiler `nvcc`, version 13.0; users need none. Each text begins with a digest of what it is made from.
"""

import gzip
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

from humboldt.models.loop.fused.launch import TEXTS

FOLDER = Path(__file__).parent / "cuda"
OPTIONS = ("-O3", "-std=c++17", "--use_fast_math", "-arch=compute_90a")
PTX_VERSION = "8.3"
HIDDEN_SIZES = (64, 128, 256)
HEAD_SIZES = (8, 16, 32, 64)  # of attention
COLUMNS = (16, 32)  # of one-hot symbols, in LSTM and GRU
GATED = {"lstm": (), "gru": ("GRU",)}
DIRECTIONS = {"forward": (), "backward": ("BACKWARD",)}


def variants() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Returns the variants to compile: for each name, the source and the macros to define."""
    variants: dict[str, tuple[str, tuple[str, ...]]] = {}
    for size, (direction, macros) in product(HIDDEN_SIZES, DIRECTIONS.items()):
        macros = (f"HIDDEN={size}", *macros)
        variants[f"relu_{direction}_{size}"] = "rnn", macros
        variants[f"tanh_{direction}_{size}"] = "rnn", (*macros, "TANH")
    for size, (cell, macros) in product(HIDDEN_SIZES, GATED.items()):
        macros = (f"HIDDEN={size}", *macros)
        for columns in COLUMNS:
            variants[f"{cell}_forward_{size}_{columns}"] = "gated", (*macros, f"COLUMNS={columns}")
        variants[f"{cell}_backward_{size}"] = "gated", (*macros, "BACKWARD")
    for direction, macros in DIRECTIONS.items():
        variants[f"stack_{direction}_256"] = "rnn", ("HIDDEN=256", "STACK", *macros)
        variants[f"tape_{direction}_256"] = "tape", ("HIDDEN=256", *macros)
    for size, (direction, macros) in product(HEAD_SIZES, DIRECTIONS.items()):
        variants[f"attention_{direction}_{size}"] = "attention", (f"HEAD={size}", *macros)
        variants[f"attention_{direction}_{size}_relative"] = "attention", (f"HEAD={size}", *macros, "RELATIVE")
    return variants


def digest(source: str, macros: tuple[str, ...]) -> str:
    """Returns the digest of everything that a text is made from, except for the compiler."""
    headers = ("instructions.cuh", "layout.cuh", *(["states.cuh"] if source in ("rnn", "tape") else []))
    text = "".join((FOLDER / name).read_text() for name in (*headers, f"{source}.cu")) + products(source)
    return hashlib.sha256("\n".join((text, *macros, *OPTIONS, PTX_VERSION)).encode()).hexdigest()[:16]


def compiled(source: str, macros: tuple[str, ...]) -> str:
    """Compiles one variant and returns its text."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "kernel.ptx")
        Path(folder, "products.cuh").write_text(products(source))
        defines = [f"-D{macro}" for macro in macros]
        places = [f"-I{folder}", f"-I{FOLDER}", str(FOLDER / f"{source}.cu"), "-o", str(out)]
        command = ["nvcc", "-ptx", *OPTIONS, *defines, *places]
        subprocess.run(command, check=True)
        return f"// sources {digest(source, macros)}\n" + _shortened(out.read_text())


def _shortened(text: str) -> str:
    """Drops comments and empty lines, which are a third of the text. Asks for the oldest version of PTX that has all
    the instructions, so that older drivers accept it, too."""
    text = re.sub(r"^\.version .*", f".version {PTX_VERSION}", text, flags=re.MULTILINE)
    lines = (re.sub(r"\s*//.*", "", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def products(source: str) -> str:
    """Writes the products of the tensor cores as functions: a first factor of 64 rows from registers or shared memory,
    and a second one of 32 to 256 columns from shared memory. The sums are in as many registers as half its columns."""
    if source == "attention":
        return "#pragma once\n" + TF32
    number = {"rnn": "bf16", "tape": "bf16", "gated": "f16"}[source]
    shapes = {"rnn": (32,), "tape": (32,), "gated": (64, 128, 192, 256)}[source]
    return (
        "#pragma once\n"
        + "".join(_product(n, number, in_registers) for n in shapes for in_registers in (0, 1))
        + SMALL.replace("bf16", number)
    )


def _product(columns: int, number: str, in_registers: int) -> str:
    count = columns // 2
    sums = ", ".join(f"%{i}" for i in range(count))
    bound = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    if in_registers:
        first, used = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}", 4
        parameters = "uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3"
        arguments, flags = '"r"(a0), "r"(a1), "r"(a2), "r"(a3)', "p, 1, 1, 0"
    else:
        first, used = f"%{count}", 1
        parameters, arguments, flags = "uint64_t a", '"l"(a)', "p, 1, 1, 0, 0"
    instruction = f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{number}.{number}"
    return f"""
__device__ __forceinline__ void product(float (&d)[{count}], {parameters}, uint64_t b, int accumulate) {{
  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{count + used + 1}, 0;\\n"
    "{instruction} {{{sums}}}, {first}, %{count + used}, {flags};\\n}}\\n"
    : {bound} : {arguments}, "l"(b), "r"(accumulate));
}}
"""


SMALL = """
__device__ __forceinline__ void small_product(float (&d)[4], uint4 a, uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
}
"""

TF32 = """
__device__ __forceinline__ uint32_t to_tf32(float x) {
  uint32_t y; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x)); return y;
}
__device__ __forceinline__ void tf32_product(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
"""


def main() -> None:
    """Compiles all variants."""
    if shutil.which("nvcc") is None:
        sys.exit("The kernels are compiled with nvcc, which is part of CUDA: it is not on the path.")
    TEXTS.mkdir(exist_ok=True)
    for old in TEXTS.glob("*.ptx.gz"):
        old.unlink()
    for name, (source, macros) in variants().items():
        (TEXTS / f"{name}.ptx.gz").write_bytes(gzip.compress(compiled(source, macros).encode(), mtime=0))
        print(name)


if __name__ == "__main__":
    main()
