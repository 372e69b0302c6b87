"""The HIP compiler on this machine: where it is, what it is, which flags each pass takes, and how it is run safely."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelvault import devices, errors
from kernelvault.errors import Unfit
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox

TARGETS = tuple(devices.TARGETS)
# All passes include it before the candidate's first line, from a precompiled header or with `-include`.
PRELUDE = "hip/hip_runtime.h"
# The same for a source that includes torch's headers, which are ours.
TORCH_HEADERS = (PRELUDE, "torch/extension.h", "ATen/hip/HIPContext.h")
# A compiler starts a linker and threads; both together stay far below.
COMPILE_LIMITS = Limits(
    wall_seconds=120, cpu_seconds=60, memory_bytes=4 << 30, file_bytes=256 << 20, output_bytes=4 << 20, processes=32
)
_CLANG_MAJOR = 22
# `__DATE__`, `__TIME__` and `__TIMESTAMP__` say the same in every pass.
_ENVIRONMENT = {"SOURCE_DATE_EPOCH": "0"}
# Our own <torch/extension.h> and its like: hip-torch sources see it in every pass.
SHADOW_HEADERS = Path(__file__).parent / "include"
_TOOLS = ("clang++", "ld.lld", "opt", "llvm-readelf", "llvm-objcopy", "llvm-objdump", "llvm-nm", "llvm-symbolizer")
# Standard, names and messages are the same in all passes. A candidate is one translation unit, so its `cuid` is a
# constant: static kernels and variables then have the same symbol in every pass.
_COMMON = (
    *("-x", "hip", "-std=c++17", "-cuid=kernelvault", "-ffp-contract=fast-honor-pragmas"),
    *("-fdiagnostics-format=sarif", "-Wno-sarif-format-unstable", "-fno-color-diagnostics"),
    *("-ferror-limit=20", "-ftemplate-backtrace-limit=3", "-fmacro-backtrace-limit=2"),
    # Noise in machine-written code: every unchecked hipError_t, and flags that one of the passes does not use.
    *("-Wno-unused-value", "-Wno-unused-result", "-Wno-unused-command-line-argument"),
)


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """A clang that compiles HIP, with the ROCm headers and device bitcode it needs."""

    # Goes into cache keys: two tool chains of one identity make the same code.
    identity: str = ""
    # For people: `clang` and `hip` with their versions.
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    # What a sandboxed compile must read beyond the system's libraries.
    readable: tuple[Path, ...]
    # Content-addressed products of the tool chain itself, such as precompiled headers.
    cache: Path
    environment: Mapping[str, str]
    bin: Path
    resource: Path
    rocm: Path
    sysroot: Path | None = None
    bitcode: Path | None = None

    @classmethod
    def find(cls, prefix: Path, cache: Path) -> Toolchain:
        """The tool chain below `prefix`: what `make toolchain` unpacked, or a ROCm install such as `/opt/rocm`.

        Raises Unfit, with the remedy, where a part is missing or has the wrong version.
        """
        prefix, cache = prefix.expanduser().resolve(), cache.expanduser().resolve() / "toolchain"
        _make_cache(cache)
        if (prefix / "llvm" / "bin" / "clang++").exists():
            return _of_rocm(prefix, cache)
        return _of_packages(prefix / "root", cache)

    def tool(self, name: str) -> str:
        """The absolute path of a tool of LLVM, such as `clang++` or `llvm-readelf`."""
        return str(self.bin / name)

    def gpu_flags(self, target: str) -> list[str]:
        """The GPU pass of one target: source to code object. Raises ValueError for a target that is not in TARGETS."""
        if target not in TARGETS:
            raise ValueError(f"failed to compile for {target!r}: known targets are {', '.join(TARGETS)}")
        flags = ["-O3", f"--offload-arch={target}", "--offload-device-only", "--no-gpu-bundle-output"]
        flags.append("-fno-discard-value-names")  # arguments keep their names in the metadata
        return [*_COMMON, *self._places(), *self._bitcode_flags(), *flags]

    def host_flags(self) -> list[str]:
        """The host pass. An empty "code object" keeps the registration code that names each kernel."""
        registration = ["-Xclang", "-fcuda-include-gpubinary", "-Xclang", str(self.cache / "empty")]
        return [*_COMMON, *self._places(), "-O1", "-nogpulib", "--offload-host-only", "-fPIC", *registration]

    def cpu_flags(self) -> list[str]:
        """The device pass aimed at x86-64: the driver's host pass with the device switch of cc1, on AMD's own headers.

        The macros differ from the GPU pass until `meaning.equal_macros` is added.
        """
        device = ("-fcuda-is-device", "-fhip-new-launch-api", "-aux-triple", "x86_64-pc-linux-gnu")
        flags = [
            "-O3",
            "-nogpuinc",
            "-nogpulib",
            "--offload-host-only",
            "-fPIC",
            "-march=x86-64-v3",
            "-mlong-double-64",
        ]
        flags += ["-fno-discard-value-names", "-Wno-builtin-macro-redefined"]
        flags += [word for switch in device for word in ("-Xclang", switch)]
        return [*_COMMON, *self._places(), *flags, "-isystem", str(self.resource / "include" / "cuda_wrappers")]

    def link_flags(self) -> list[str]:
        """A shared object for this machine from objects, every symbol resolved."""
        return [*self._sysroot_flags(), "-shared", "-fuse-ld=lld", "-Wl,-z,defs", "-Wl,--threads=1"]

    def native_flags(self) -> list[str]:
        """C++ of our own for this machine, such as the CPU model's runtime."""
        return [*self._sysroot_flags(), "-std=c++20", "-O2", "-fPIC", "-march=x86-64-v3"]

    def restore_cache(self) -> None:
        """Makes what all passes want of the cache where it is gone; raises errors.Unavailable where it cannot."""
        empty = self.cache / "empty"
        try:
            if not empty.exists() or empty.stat().st_size:
                self.cache.mkdir(parents=True, exist_ok=True)
                empty.write_bytes(b"")
        except OSError as error:
            raise errors.Unavailable("CACHE_LOST", f"failed to restore the tool chain's cache: {error}") from error

    async def run(
        self, sandbox: Sandbox, folder: Path, *argv: str, limits: Limits = COMPILE_LIMITS, readable: Iterable[Path] = ()
    ) -> Outcome:
        """Runs a tool in the sandbox, in `folder`: it reads foreign text, so it sees nothing else of ours.

        `readable` adds paths to those of the tool chain. Raises errors.Unavailable for trouble of the platform.
        """
        paths = (*self.readable, *readable)
        return await sandbox.run(
            Job(folder=folder, argv=argv, readable=paths, environment=dict(self.environment), limits=limits)
        )

    def _places(self) -> list[str]:
        flags = [*self._sysroot_flags(), f"--rocm-path={self.rocm}"]
        if self.sysroot:  # the headers and the bitcode are of two releases, so these are not found by the driver
            flags += ["-D__AMDGCN_WAVEFRONT_SIZE=64", "-DHIP_ENABLE_WARP_SYNC_BUILTINS"]
        else:
            flags += ["-isystem", str(self.rocm / "include")]
        return [*flags, "-isystem", str(SHADOW_HEADERS)]

    def _sysroot_flags(self) -> list[str]:
        return [f"--sysroot={self.sysroot}"] if self.sysroot else []

    def _bitcode_flags(self) -> list[str]:
        return [f"--rocm-device-lib-path={self.bitcode}"] if self.bitcode else []


def _of_packages(root: Path, cache: Path) -> Toolchain:
    """What scripts/install-toolchain unpacked: LLVM 22 of Debian, HIP headers and bitcode of its testing release."""
    remedy = "run `make toolchain`, or set KERNELVAULT_TOOLCHAIN to the prefix of a tool chain or to a ROCm install"
    usr = root / "usr"
    llvm, bitcode = usr / "lib" / "llvm-22", usr / "lib" / "llvm-21" / "lib" / "clang" / "21" / "amdgcn" / "bitcode"
    needed = [*(llvm / "bin" / tool for tool in _TOOLS), usr / "include" / PRELUDE]
    needed += [bitcode / name for name in ("ocml.bc", "ockl.bc", "oclc_isa_version_950.bc")]
    _check_present(needed, remedy)
    environment = {**_ENVIRONMENT, "LD_LIBRARY_PATH": str(usr / "lib" / "x86_64-linux-gnu")}
    version = _clang_version(llvm / "bin" / "clang++", environment, remedy)
    if int(version.split(".")[0]) != _CLANG_MAJOR:
        raise Unfit(f"failed to use clang {version} of {root}: needs clang {_CLANG_MAJOR}; {remedy}")
    toolchain = Toolchain(
        readable=(root, cache, SHADOW_HEADERS),
        cache=cache,
        environment=environment,
        bin=llvm / "bin",
        resource=llvm / "lib" / "clang" / str(_CLANG_MAJOR),
        rocm=usr,
        sysroot=root,
        bitcode=bitcode,
    )
    return _identified(toolchain, version)


def _of_rocm(rocm: Path, cache: Path) -> Toolchain:
    """A ROCm install: its own clang finds its headers and bitcode; the C++ library is the system's."""
    remedy = "install ROCm's compiler packages (rocm-llvm, hip-dev, rocm-device-libs), or run `make toolchain`"
    llvm = rocm / "llvm"
    _check_present([*(llvm / "bin" / tool for tool in _TOOLS), rocm / "include" / PRELUDE], remedy)
    version = _clang_version(llvm / "bin" / "clang++", {}, remedy)
    resource = llvm / "lib" / "clang" / version.split(".")[0]
    _check_present([resource / "include"], remedy)
    readable = (rocm, cache, SHADOW_HEADERS, Path("/usr/include"), Path("/usr/lib"), Path("/usr/lib64"))
    toolchain = Toolchain(
        readable=tuple(path for path in readable if path.exists()),
        cache=cache,
        environment=_ENVIRONMENT,
        bin=llvm / "bin",
        resource=resource,
        rocm=rocm,
    )
    return _identified(toolchain, version)


def _identified(toolchain: Toolchain, clang: str) -> Toolchain:
    """Fills in the versions and the digest of all that the code depends on: compiler, headers, bitcode, flags."""
    hip, bitcode = toolchain.rocm / "include" / "hip", toolchain.bitcode or toolchain.rocm / "amdgcn" / "bitcode"
    state = hashlib.sha256(clang.encode())
    headers = [*hip.rglob("*.h"), *(path for path in SHADOW_HEADERS.rglob("*") if path.is_file())]
    for path in [*sorted(headers), *sorted(bitcode.glob("*.bc"))]:
        state.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    passes = (toolchain.gpu_flags(TARGETS[0]), toolchain.host_flags(), toolchain.cpu_flags(), toolchain.link_flags())
    for flags in passes:
        state.update(
            "\0".join(flags)
            .replace(str(toolchain.cache), "")
            .replace(str(toolchain.rocm), "")
            .replace(str(SHADOW_HEADERS.parent), "")
            .encode()
        )
    versions = {"clang": clang, "hip": _hip_version(hip / "hip_version.h")}
    return dataclasses.replace(toolchain, identity=state.hexdigest(), versions=versions)


def _make_cache(cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "empty").touch()
    except OSError as error:
        raise Unfit(f"failed to make the tool chain's cache {cache}: {error}; set KERNELVAULT_CACHE_DIR") from error


def _check_present(paths: Iterable[Path], remedy: str) -> None:
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Unfit(f"failed to find the HIP tool chain: {missing[0]}{more} not found; {remedy}")


def _clang_version(clang: Path, environment: Mapping[str, str], remedy: str) -> str:
    try:
        done = subprocess.run(
            [clang, "--version"], capture_output=True, text=True, timeout=30, env=dict(environment), check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unfit(f"failed to run {clang}: {error}; {remedy}") from error
    match = re.search(r"clang version (\d+\.\d+\.\d+\S*)", done.stdout)
    if not match:
        raise Unfit(f"failed to read the version of {clang}: it printed {done.stdout[:100]!r}; {remedy}")
    return match[1]


def _hip_version(header: Path) -> str:
    numbers = dict(re.findall(r"#define HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", header.read_text()))
    return ".".join(numbers.get(part, "?") for part in ("MAJOR", "MINOR", "PATCH"))
