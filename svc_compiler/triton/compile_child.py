"""Compiles the variants of a Triton program for one target. Runs in a sandboxed child, forked warm.

It holds no candidate code: the program's text is read by Triton's compiler and run by nobody. What it leaves for each
variant, as messages in files: `{i}.build` (a TargetBuild: diagnostics, and whether it compiled) and, if so, `{i}.image`
and `{i}.hsaco`. The build comes last, so that a variant without one is the one that ended the process.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelvault import devices
from kernelvault.replay.triton import program as programs
from kernelvault.v1 import compiler_pb2, plan_pb2, triton_pb2
from svc_compiler import code_object
from svc_compiler.triton import complaints, warm

# Triton adds two pointers behind a kernel's own arguments, null unless something asks for memory through them.
_SCRATCH = ("global_scratch", "profile_scratch")
_CACHE = "cache"
_MAX_THREADS = 1024


class Beyond(Exception):
    """A kernel takes more than a compute unit has."""


def main(payload: bytes, _descriptors: dict[str, int]) -> None:
    """`payload`: a line of JSON (`target`, `variants` by name), then the program."""
    # Python's about the author's text would look like an exception of ours.
    warnings.simplefilter("ignore")
    header, _, data = payload.partition(b"\n")
    request = json.loads(header)
    program = programs.read(data)
    by_name = {variant.name: variant for variant in program.variants}
    try:
        functions = programs.materialize(program, warm.jit)
    except programs.Malformed as error:
        _write("program.build", complaints.of_malformed(error))
        return
    for i, name in enumerate(request["variants"]):
        _write(f"{i}.build", _compile(functions, by_name[name], request["target"], i))


def _compile(functions: list[Any], variant: triton_pb2.TritonProgram.Variant, target: str, i: int) -> Any:
    said = Path(f"{i}.stderr")
    try:
        with _stderr_into(said):
            compiled = warm.compile_variant(functions, variant, target, str(Path(_CACHE).absolute()))
        image = _image(compiled, variant, target)
    except Exception as error:
        return complaints.of_failure(
            error, functions, functions[variant.function], complaints.output(said.read_bytes())
        )
    Path(f"{i}.hsaco").write_bytes(compiled.asm["hsaco"])
    _write(f"{i}.image", image)
    return compiler_pb2.TargetBuild(compiled=True)


def _image(compiled: Any, variant: triton_pb2.TritonProgram.Variant, target: str) -> plan_pb2.Image:
    metadata = compiled.metadata
    threads = metadata.num_warps * warm.WAVE_SIZE
    most = devices.lds_bytes(target)
    if metadata.shared > most:
        raise Beyond(
            f"the kernel takes {metadata.shared} bytes of LDS, and a compute unit of {target} has {most}: "
            "use smaller blocks or fewer num_stages"
        )
    if threads > _MAX_THREADS:
        raise Beyond(f"num_warps={metadata.num_warps} makes blocks of {threads} threads; at most 16 warps fit")
    if metadata.profile_scratch_size:
        raise Beyond("the kernel asks for scratch memory of the profiler, which launch plans do not have")
    assembly: str = compiled.asm["amdgcn"]
    # The last one is the compiler's: an author's own assembly stands before it.
    kernel = code_object.kernels(assembly[assembly.rindex("amdhsa.kernels:") :])[0]
    for slot, name in zip(kernel.layout[len(programs.argument_slots(variant)) :], _SCRATCH, strict=False):
        slot.name, slot.hidden = name, True
    instructions = _instructions(assembly)
    return plan_pb2.Image(
        target=target,
        symbol=metadata.name,
        resources=code_object.resources(kernel, target, instructions, lds_bytes=metadata.shared),
        block_threads=threads,
        layout=kernel.layout,
    )


def _instructions(assembly: str) -> Counter[str]:
    """How many there are of each class, called functions included."""
    mnemonics = Counter(code_object.mnemonics(assembly))
    classes: Counter[str] = Counter()
    for mnemonic, count in mnemonics.items():
        classes[code_object.classify(mnemonic)] += count
    return classes


@contextmanager
def _stderr_into(path: Path) -> Iterator[None]:
    """The compiler's passes, and LLVM when it gives up, speak to the descriptor."""
    sys.stderr.flush()
    kept = os.dup(2)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def _write(name: str, message: Any) -> None:
    whole = Path(f".{name}")
    whole.write_bytes(message.SerializeToString(deterministic=True))
    whole.rename(name)
