"""The CPU image: device code as x86-64 with the CPU model's runtime and checker, without any host code.

One shared object that needs the C library only: AMD's own headers read by the device pass of clang's HIP front end,
aimed at x86-64; entries that unpack argument bytes (`unpack.py`); what the runtime must see (`device_ir.py`).
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kernelvault import errors
from kernelvault.sandbox import Limits, Sandbox
from kernelvault.v1 import compiler_pb2
from svc_compiler.hip import conversions, device_ir, ir, meaning, pasted, precompiled, runtime, unpack
from svc_compiler.hip.gpu import headers_before
from svc_compiler.hip.passes import Pass, run_pass
from svc_compiler.hip.toolchain import PRELUDE, Toolchain
from svc_compiler.refusal import Refused

Verdict = compiler_pb2.VerificationReport.Verdict

# Narrow floats are rounded after every operation, as on the device; line tables are for findings. A variable that
# nobody set holds NaN, or a number far from zero, and not what suits the optimiser.
_DEVICE_FLAGS = (
    *("-g1", "-gdwarf-5", "-fdebug-compilation-dir=.", "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-w"),
    "-ftrivial-auto-var-init=pattern",
    *("-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none"),
)
# No vectors of the compiler's own: the checker sees accesses up to 16 bytes. Calls are neither merged nor moved into a
# tail: the address to which a barrier returns tells which it is.
_OBJECT_FLAGS = (
    *("-O2", "-fPIC", "-march=x86-64-v3", "-ffp-contract=fast", "-fsanitize=thread", "-Wno-override-module", "-c"),
    *("-fno-vectorize", "-fno-slp-vectorize"),
    *(
        word
        for option in (
            *("-tsan-distinguish-volatile=1", "-tsan-instrument-func-entry-exit=0", "-tsan-handle-cxx-exceptions=0"),
            *("-tsan-instrument-read-before-write=1", "-enable-tail-merge=0"),
            *("-inline-threshold=1000",),
        )
        for word in ("-mllvm", option)
    ),
)
# Wide accesses are cut into pieces that the checker sees, before it is told of them.
_WIDE_PASSES = "default<O2>,function(scalarizer<load-store;min-bits=128>)"
_BACKEND_LIMITS = Limits(wall_seconds=120, cpu_seconds=60, processes=32)
_SHOWN = 10


@dataclass(frozen=True)
class ImageBuild:
    """A CPU image, and what a plan must know of the code in it."""

    # A shared object; kernelvault/replay/cpu_model.py runs it.
    image: Path
    # For each kernel: offsets of argument bytes that no member owns.
    padding: dict[str, list[int]] = field(default_factory=dict)
    # `__device__` and `__constant__` variables by symbol, with their sizes in bytes.
    variables: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class DeviceModule:
    """What the device pass made of a source, before the checker's and the entries' code is in it."""

    # LLVM IR.
    text: str
    target: str
    support: runtime.Runtime


async def compile_device(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: str, *, target: str
) -> DeviceModule:
    """Runs the device pass over `source`, below `folder`, with the predefined macros of `target`.

    Raises Refused with NEEDS_DEVICE for code that the GPU pass of `target` takes and this one does not. Raises
    errors.Unavailable or errors.Internal for trouble of the platform.
    """
    support, done = await asyncio.gather(
        runtime.build(sandbox, toolchain), _device_pass(sandbox, toolchain, folder, source, target)
    )
    if done.output is None:
        raise Refused(Verdict.NEEDS_DEVICE, _explain_compile(done), diagnostics=done.diagnostics)
    return DeviceModule(done.output.read_text(errors="surrogateescape"), target, support)


async def build_image(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, module: DeviceModule, layouts: Mapping[str, unpack.Slots]
) -> ImageBuild:
    """Builds the image of `module`, in `folder`, for the kernels of `layouts`, which the GPU pass of its target gave.

    Its eight-bit floats are those of the target.

    Raises Refused with NEEDS_DEVICE for code that the GPU pass took and the CPU model cannot run: inline assembly,
    builtins or library functions that it lacks, arguments without a plain copy. Raises errors.Unavailable or
    errors.Internal for trouble of the platform.
    """
    given, support = module.text, module.support
    try:
        device_ir.check(given)
        device_ir.check_names(given, support.names)
        kernels = {name: unpack.find(name, slots, given) for name, slots in layouts.items()}
        padding = {name: unpack.padding(kernels[name], slots, given) for name, slots in layouts.items()}
        variables = device_ir.variables(given)
        text = device_ir.rewrite(conversions.saturate(given), kernels, module.target)
        _check_wants(device_ir.wants(text), support)
    except (unpack.Unsupported, ir.Unreadable) as error:
        raise Refused(Verdict.NEEDS_DEVICE, f"The CPU model cannot run this source: {error}.") from error
    image = await _make(sandbox, toolchain, folder, text, support, wide=device_ir.has_wide_accesses(given))
    return ImageBuild(image, padding, variables)


async def locate(
    sandbox: Sandbox, toolchain: Toolchain, image: Path, offsets: Iterable[int]
) -> dict[int, tuple[str, ...]]:
    """`file:line` of code offsets in an image, where its debug information tells; for findings.

    The first is the innermost in the candidate's own files, so that a fault in a function of a header is shown where
    the candidate called it. Where that is in an inlined function, the lines that called it follow.
    """
    wanted = sorted(set(offsets))
    if not wanted:
        return {}
    folder = Path(tempfile.mkdtemp(dir=image.parent, prefix=".locate-"))
    arguments = ["--output-style=JSON", "--inlines", "--no-demangle", f"--obj={image}", *(hex(o) for o in wanted)]
    outcome = await toolchain.run(
        sandbox, folder, toolchain.tool("llvm-symbolizer"), *arguments, limits=_BACKEND_LIMITS, readable=(image,)
    )
    return locations(outcome.stdout.decode(errors="replace"), wanted) if outcome.ok else {}


def locations(text: str, offsets: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Reads llvm-symbolizer's JSON: an object a line, or one array, in the order of `offsets`."""
    import json

    try:
        entries = json.loads(text if text.startswith("[") else "[" + ",".join(text.splitlines()) + "]")
    except ValueError:
        return {}
    found = {}
    for offset, entry in zip(offsets, entries, strict=False):
        frames = [
            (pasted.origin(str(f.get("FileName", "")).removeprefix("./")), int(f.get("Line", 0)))
            for f in entry.get("Symbol", [])
        ]
        own = [f"{file}:{line}" for file, line in frames if file and not file.startswith("/") and line]
        if own:
            found[offset] = tuple(dict.fromkeys(own))
    return found


async def _device_pass(sandbox: Sandbox, toolchain: Toolchain, folder: Path, source: str, target: str) -> Pass:
    headers = [*runtime.cpu_first(toolchain), *(headers_before(folder) or (PRELUDE,))]
    flags = [*toolchain.cpu_flags(), *await meaning.equal_macros(sandbox, toolchain, target)]
    header = await precompiled.precompile(sandbox, toolchain, [*flags, *_PRECOMPILED_FLAGS], headers)
    everything = [*precompiled.use_flags(header), *flags, *_DEVICE_FLAGS]
    return await run_pass(
        sandbox, toolchain, folder, source, everything, output="device.ll", readable=(Path(headers[0]),)
    )


# Flags of the device pass that change what a precompiled header means.
_PRECOMPILED_FLAGS = ("-w", *_DEVICE_FLAGS[_DEVICE_FLAGS.index("-w") + 1 :], "-g1", "-gdwarf-5")


def _explain_compile(done: Pass) -> str:
    """The GPU pass took it, so that what is missing is the model's fault."""
    first = next((d for d in done.diagnostics if d.level == compiler_pb2.Diagnostic.ERROR), None)
    if first is None:
        return f"The CPU model's pass fails: {done.outcome.describe()}"
    builtin = re.search(r"__builtin_amdgcn_\w+", first.message)
    what = f"it has no {builtin[0]}" if builtin else first.message
    return f"{first.file}:{first.line}: the CPU model cannot run this source: {what}."


def _check_wants(wanted: set[str], support: runtime.Runtime) -> None:
    missing = sorted(wanted - support.names)
    if missing:
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        raise unpack.Unsupported(f"it uses {', '.join(missing[:_SHOWN])}{more}, which the CPU model lacks")


async def _make(
    sandbox: Sandbox, toolchain: Toolchain, folder: Path, module: str, support: runtime.Runtime, *, wide: bool
) -> Path:
    """Module text to shared object."""
    workspace = Path(tempfile.mkdtemp(dir=folder, prefix=".pass-"))
    (workspace / "image.ll").write_text(module, errors="surrogateescape")
    given = "image.ll"
    if wide:
        given = "narrow.bc"
        command = (toolchain.tool("opt"), f"-passes={_WIDE_PASSES}", "-vectorize-loops=0", "-vectorize-slp=0")
        await _step(sandbox, toolchain, workspace, *command, "image.ll", "-o", given)
    await _step(
        sandbox, toolchain, workspace, toolchain.tool("clang++"), "-x", "ir", *_OBJECT_FLAGS, given, "-o", "image.o"
    )
    link = [
        *toolchain.link_flags(),
        "-nostdlib",
        "image.o",
        str(support.object),
        "-lm",
        "-lc",
        "-lgcc",
        "-o",
        "image.so",
    ]
    outcome = await toolchain.run(sandbox, workspace, toolchain.tool("clang++"), *link, limits=_BACKEND_LIMITS)
    if not outcome.ok:
        raise errors.Internal("IMAGE_BROKEN", f"failed to link the CPU image: {outcome.describe()}")
    image = folder / "image.so"
    os.replace(workspace / "image.so", image)
    return image


async def _step(sandbox: Sandbox, toolchain: Toolchain, workspace: Path, *command: str) -> None:
    outcome = await toolchain.run(sandbox, workspace, *command, limits=_BACKEND_LIMITS)
    if not outcome.ok:
        raise Refused(
            Verdict.NEEDS_DEVICE, f"The CPU model cannot run this source: no x86-64 code for it: {outcome.describe()}"
        )
