"""The tool chain that `make toolchain` unpacked, and prefixes that hold none."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelvault.sandbox import Sandbox, Unfit
from svc_compiler.hip.toolchain import TARGETS, Toolchain

PREFIX = Path(os.environ.get("KERNELVAULT_TOOLCHAIN", "~/.cache/kernelvault/toolchain"))


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A bare sandbox."""
    started = await Sandbox.start()
    yield started
    await started.close()


def test_identity_is_the_same_every_time(tmp_path: Path) -> None:
    """Cache keys of equal tool chains are equal, wherever their own cache lies."""
    first, second = (Toolchain.find(PREFIX, tmp_path / name) for name in ("a", "b"))
    assert first.identity == second.identity
    assert first.versions["clang"].startswith("22.")


def test_an_empty_prefix_says_what_to_do(tmp_path: Path) -> None:
    """Unfit names the missing file and the remedy."""
    with pytest.raises(Unfit, match=r"clang.* not found; run `make toolchain`"):
        Toolchain.find(tmp_path / "nothing", tmp_path / "cache")


def test_a_rocm_install_without_headers_says_what_to_do(tmp_path: Path) -> None:
    """A prefix with `llvm/bin/clang++` is taken for a ROCm install."""
    compiler = tmp_path / "rocm" / "llvm" / "bin" / "clang++"
    compiler.parent.mkdir(parents=True)
    compiler.touch()
    with pytest.raises(Unfit, match="install ROCm's compiler packages"):
        Toolchain.find(tmp_path / "rocm", tmp_path / "cache")


def test_another_clang_is_refused(tmp_path: Path) -> None:
    """The CPU pass leans on one release of clang; another is refused by its version."""
    real = Toolchain.find(PREFIX, tmp_path / "real")
    root = tmp_path / "prefix" / "root"
    usr = root / "usr"
    (usr / "lib" / "llvm-22").mkdir(parents=True)
    for name in ("include", "lib/llvm-21"):
        (usr / name).symlink_to(real.rocm / name)
    binaries = usr / "lib" / "llvm-22" / "bin"
    binaries.mkdir()
    for tool in real.bin.iterdir():
        (binaries / tool.name).symlink_to(tool)
    (binaries / "clang++").unlink()
    (binaries / "clang++").write_text("#!/bin/sh\necho 'clang version 19.1.0'\n")
    (binaries / "clang++").chmod(0o755)
    with pytest.raises(Unfit, match=r"clang 19\.1\.0 .* needs clang 22"):
        Toolchain.find(tmp_path / "prefix", tmp_path / "cache")


def test_unknown_targets_are_refused(tmp_path: Path) -> None:
    """A target that the services do not know never reaches the compiler."""
    with pytest.raises(ValueError, match=f"known targets are {', '.join(TARGETS)}"):
        Toolchain.find(PREFIX, tmp_path).gpu_flags("gfx1100")


async def test_tools_run_in_the_sandbox(sandbox: Sandbox, tmp_path: Path) -> None:
    """The tool chain and the cache are readable there, and nothing else of this machine."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    folder = tmp_path / "job"
    folder.mkdir()
    secret = tmp_path / "secret.h"
    secret.write_text("int secret;\n")
    (folder / "it.cpp").write_text(f'#include <vector>\n#include "{secret}"\n')
    outcome = await toolchain.run(
        sandbox, folder, toolchain.tool("clang++"), *toolchain.native_flags(), "-c", "it.cpp", "-o", "it.o"
    )
    assert outcome.exit_code == 1
    assert b"Permission denied" in outcome.stderr
    assert b"int secret" not in outcome.stderr


async def test_native_code_compiles_and_links(sandbox: Sandbox, tmp_path: Path) -> None:
    """Our own C++ becomes a shared object with the tool chain's headers and libraries."""
    toolchain = Toolchain.find(PREFIX, tmp_path / "cache")
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "it.cpp").write_text('#include <cmath>\nextern "C" double half(double x) { return std::ldexp(x, -1); }\n')
    clang = toolchain.tool("clang++")
    compiled = await toolchain.run(sandbox, folder, clang, *toolchain.native_flags(), "-c", "it.cpp", "-o", "it.o")
    linked = await toolchain.run(sandbox, folder, clang, *toolchain.link_flags(), "it.o", "-o", "it.so")
    assert (compiled.describe(), linked.describe()) == ("exit code 0", "exit code 0")
