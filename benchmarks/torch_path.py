"""torch's own path from a `hip-torch` source to an extension: `torch.utils.cpp_extension.load`, for one GPU target.

Real: the function with all it does (hipify, ninja, its flags, the link with torch's libraries), torch's headers, HIP's
headers, the compiler, the device pass, and the host pass with the binding. What a CPU build of torch lacks stands in,
always so that this path has less to do: `thrust/complex.h` is a few declarations; HIP's and torch's GPU libraries are
empty; what was linked is not loaded; torch is imported before the clock starts. The sources may not include c10/hip or
ATen/hip, whose headers come with ROCm builds only.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import io
import multiprocessing
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from svc_compiler.config import CompilerConfig
from svc_compiler.hip.toolchain import Toolchain

_STANDINS = Path(__file__).parent / "rocm"
_LIBRARIES = ("amdhip64", "c10_hip", "torch_hip")


@dataclasses.dataclass(frozen=True)
class Cost:
    """What compiling all sources took."""

    wall_seconds: float
    # Of each source, in order.
    cpu_seconds: list[float]


def compile_all(sources: Sequence[Path], target: str) -> Cost:
    """Compiles each source as torch would, as many at once as there are cores.

    Raises RuntimeError with the compiler's words where one does not compile, or where ninja is missing.
    """
    settings = CompilerConfig()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make_rocm(folder / "rocm")
        environment = _environment(Toolchain.find(settings.toolchain, settings.cache_dir), target)
        workers = os.cpu_count() or 1
        # Not forked: the caller may have threads of gRPC.
        started_anew = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(
            workers, started_anew, initializer=_prepare, initargs=(folder / "rocm", environment)
        ) as pool:
            list(pool.map(_is_ready, range(workers)))
            started = time.monotonic()
            costs = list(pool.map(_build, sources, [folder / source.stem for source in sources]))
            return Cost(time.monotonic() - started, costs)


def _make_rocm(folder: Path) -> None:
    """What torch takes for a ROCm install."""
    for part in ("bin", "lib", "include/thrust"):
        (folder / part).mkdir(parents=True)
    shutil.copy(_STANDINS / "hipcc", folder / "bin")
    shutil.copy(_STANDINS / "complex.h", folder / "include" / "thrust")
    for library in _LIBRARIES:
        subprocess.run(
            ["c++", "-shared", "-x", "c++", "/dev/null", "-o", folder / "lib" / f"lib{library}.so"], check=True
        )


def _environment(toolchain: Toolchain, target: str) -> dict[str, str]:
    """What hipcc knows by where it is installed, and what torch is told."""
    places = [f"--rocm-path={toolchain.rocm}"]
    if toolchain.sysroot:
        places += [f"--sysroot={toolchain.sysroot}", "-D__AMDGCN_WAVEFRONT_SIZE=64"]
    if toolchain.bitcode:
        places.append(f"--rocm-device-lib-path={toolchain.bitcode}")
    own = {"KV_CLANG": toolchain.tool("clang++"), "KV_PLACES": " ".join(places)}
    # Each call compiles one file; all calls together keep the cores busy.
    return {**toolchain.environment, **own, "PYTORCH_ROCM_ARCH": target, "MAX_JOBS": "1"}


def _prepare(rocm: Path, environment: dict[str, str]) -> None:
    """Makes this worker's torch believe that it was built for ROCm."""
    os.environ.update(environment)
    import torch
    from torch.utils import cpp_extension

    cpp_extension.verify_ninja_availability()
    torch.version.hip, cpp_extension.ROCM_VERSION = "6.4.0", (6, 4)
    cpp_extension.ROCM_HOME, cpp_extension.HIP_HOME, cpp_extension.IS_HIP_EXTENSION = str(rocm), None, True
    cpp_extension._import_module_from_library = lambda *_: None


def _is_ready(_: int) -> None:
    """Keeps a worker for a moment, so that every worker is started and prepared."""
    time.sleep(1)


def _build(source: Path, folder: Path) -> float:
    """Compiles and links one source; gives the CPU seconds of this worker and its children."""
    from torch.utils import cpp_extension

    folder.mkdir()
    shutil.copy(source, folder)  # torch writes beside the source
    before = _cpu_seconds()
    with contextlib.redirect_stderr(io.StringIO()):  # hipify says that it is done
        cpp_extension.load(source.stem, [str(folder / source.name)], build_directory=str(folder), with_cuda=True)
    if not (folder / f"{source.stem}.so").exists():
        raise RuntimeError(f"failed to compile {source}: torch made no library")
    return _cpu_seconds() - before


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
