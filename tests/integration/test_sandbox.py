"""The sandbox, on real processes of the real kernel."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernelvault import errors
from kernelvault.sandbox import Job, Limits, Outcome, Sandbox, check_all, check_platform, fitness, memory

PYTHON = (Path(sys.prefix), Path(sys.base_prefix))
DENIED = "PermissionError"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A bare sandbox."""
    started = await Sandbox.start()
    yield started
    await started.close()


def code(folder: Path, source: str, **changes: object) -> Job:
    """A job that executes Python source in a forked child."""
    return Job(folder=folder, entry="builtins:exec", payload=source.encode(), **changes)  # type: ignore[arg-type]


def program(folder: Path, source: str, **changes: object) -> Job:
    """A job that executes Python source in a new interpreter, which may start processes."""
    limits = changes.pop("limits", Limits(processes=8))
    argv = (sys.executable, "-I", "-c", source)
    return Job(folder=folder, argv=argv, readable=PYTHON, limits=limits, **changes)  # type: ignore[arg-type]


async def fails_with(sandbox: Sandbox, folder: Path, source: str) -> str:
    """The last line of stderr of source that must fail by itself."""
    outcome = await sandbox.run(code(folder, source))
    assert outcome.exit_code == 1, outcome
    return outcome.stderr.decode().splitlines()[-1]


def processes_with(marker: str) -> list[int]:
    """The processes whose command line holds `marker`, zombies included."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def state_of(pid: int) -> str:
    """The letter of a process's state, such as `Z` of one that has ended and was not reaped; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def parent_of(pid: int) -> int:
    """The parent's process id."""
    return int(Path(f"/proc/{pid}/stat").read_text().split()[3])


async def appears(path: Path) -> None:
    """Waits until another process has made `path`."""
    while not path.exists():  # noqa: ASYNC240  # another process makes it
        await asyncio.sleep(0.01)


async def test_a_program_runs_and_its_output_is_kept(sandbox: Sandbox, tmp_path: Path) -> None:
    """A program's exit code, stdout and stderr are those that it gave."""
    outcome = await sandbox.run(Job(folder=tmp_path, argv=("/bin/sh", "-c", "echo out; echo err >&2; exit 3")))
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (3, b"out\n", b"err\n")
    assert outcome.describe() == "exit code 3: err"


@pytest.mark.parametrize("path", ["/etc/passwd", "/root", "/proc/1/environ", "/tmp", __file__, "/proc/self/../1/maps"])
async def test_reads_outside_are_denied(sandbox: Sandbox, tmp_path: Path, path: str) -> None:
    """What the job does not name cannot be read, whoever owns it."""
    source = f"import os; os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}).read()"
    assert DENIED in await fails_with(sandbox, tmp_path, source)


@pytest.mark.parametrize(
    "action",
    [
        "open('../outside', 'w')",
        "os.mkdir('../outside')",
        "os.truncate('../victim', 0)",
        "os.unlink('../victim')",
        "os.rename('../victim', 'mine')",
        "os.link('../victim', 'mine')",
        "os.chmod('../victim', 0o777)",
        "os.utime('../victim')",
        "os.symlink('/etc/passwd', 'link')",
        "os.mkfifo('fifo')",
    ],
)
async def test_writes_outside_are_denied(sandbox: Sandbox, tmp_path: Path, action: str) -> None:
    """Nothing outside the folder can be made or changed, and nothing inside that leads outside."""
    folder = tmp_path / "own"
    folder.mkdir()
    (tmp_path / "victim").write_text("whole")
    line = await fails_with(sandbox, folder, f"import os; {action}")
    assert DENIED in line or "Invalid cross-device link" in line
    assert (tmp_path / "victim").read_text() == "whole"
    assert not (tmp_path / "outside").exists()


async def test_the_folder_is_writable(sandbox: Sandbox, tmp_path: Path) -> None:
    """The folder is the working directory, HOME and TMPDIR."""
    source = "import os, tempfile; tempfile.mkdtemp(); open(os.environ['HOME'] + '/file', 'w').write('x')"
    assert (await sandbox.run(code(tmp_path, source))).ok
    assert (tmp_path / "file").read_text() == "x"


async def test_named_paths_are_readable_only(sandbox: Sandbox, tmp_path: Path) -> None:
    """`readable` gives reading and not writing."""
    folder, other = tmp_path / "own", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "file").write_text("text")
    assert (
        await sandbox.run(code(folder, f"print(open('{other}/file').read())", readable=(other,)))
    ).stdout == b"text\n"
    outcome = await sandbox.run(code(folder, f"open('{other}/new', 'w')", readable=(other,)))
    assert DENIED in outcome.stderr.decode()


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"])
async def test_there_is_no_network(sandbox: Sandbox, tmp_path: Path, family: str) -> None:
    """No socket of any family can be made."""
    assert DENIED in await fails_with(sandbox, tmp_path, f"import socket; socket.socket(socket.{family})")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("ptrace", 101),
        ("process_vm_readv", 310),
        ("unshare", 272),
        ("mount", 165),
        ("bpf", 321),
        ("keyctl", 250),
        ("perf_event_open", 298),
        ("userfaultfd", 323),
        ("setsid", 112),
        ("memfd_create", 319),
        ("fork", 57),
        ("socketpair", 53),
    ],
)
async def test_dangerous_calls_are_denied(sandbox: Sandbox, tmp_path: Path, name: str, number: int) -> None:
    """Calls that reach other processes or the kernel's insides fail with EPERM."""
    source = (
        f"import ctypes; c = ctypes.CDLL(None, use_errno=True); print(c.syscall({number}, 0, 0, 0), ctypes.get_errno())"
    )
    assert (await sandbox.run(code(tmp_path, source))).stdout == b"-1 1\n", name


async def test_new_calls_do_not_exist(sandbox: Sandbox, tmp_path: Path) -> None:
    """clone3 and io_uring fail with ENOSYS, so that the C library falls back to what the filter understands."""
    source = (
        "import ctypes; c = ctypes.CDLL(None, use_errno=True);"
        "print([(c.syscall(n, 0, 0, 0), ctypes.get_errno()) for n in (425, 435)])"
    )
    assert (await sandbox.run(code(tmp_path, source))).stdout == b"[(-1, 38), (-1, 38)]\n"


async def test_threads_are_allowed(sandbox: Sandbox, tmp_path: Path) -> None:
    """A job that cannot fork can start threads."""
    source = "import threading; t = threading.Thread(target=print, args=('hi',)); t.start(); t.join()"
    assert (await sandbox.run(code(tmp_path, source))).stdout == b"hi\n"


@pytest.mark.parametrize("make", [code, program])
async def test_signals_reach_nobody_else(sandbox: Sandbox, tmp_path: Path, make: type) -> None:
    """A job cannot signal its parent, this process or a group."""
    for target in ("os.getppid()", str(os.getpid()), "1"):
        outcome = await sandbox.run(make(tmp_path, f"import os; os.kill({target}, 9)"))
        assert DENIED in outcome.stderr.decode()


async def test_root_has_no_privileges(sandbox: Sandbox, tmp_path: Path) -> None:
    """Capabilities are gone and cannot come back."""
    source = (
        "print([l.split()[1] for l in open('/proc/self/status') if l[:6] in ('CapEff', 'CapPrm', 'NoNewP', 'Seccom')])"
    )
    outcome = await sandbox.run(code(tmp_path, source))
    assert outcome.stdout.startswith(b"['0000000000000000', '0000000000000000', '1', '2'")


async def test_environment_and_descriptors_are_not_inherited(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program sees the environment and the descriptors of its job and no others."""
    monkeypatch.setenv("SECRET", "1")
    secret = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(secret, True)
    source = (
        "import os; print(sorted(os.environ), sorted(int(f) for f in os.listdir('/proc/self/fd'))[:-1], os.read(3, 9))"
    )
    given = memory.sealed(b"given")
    outcome = await sandbox.run(
        program(tmp_path, source, environment={"MINE": "1"}, descriptors={"given": given}, limits=Limits())
    )
    os.close(secret)
    os.close(given)
    assert outcome.stdout == b"['HOME', 'LANG', 'MINE', 'PATH', 'TMPDIR'] [0, 1, 2, 3] b'given'\n"


async def test_an_endless_loop_times_out(sandbox: Sandbox, tmp_path: Path) -> None:
    """Wall-clock time is limited, with a margin of the watching interval."""
    started = time.monotonic()
    outcome = await sandbox.run(code(tmp_path, "import time; time.sleep(60)", limits=Limits(wall_seconds=0.3)))
    assert outcome.timed_out
    assert time.monotonic() - started < 2


async def test_cpu_time_is_limited(sandbox: Sandbox, tmp_path: Path) -> None:
    """Burning CPU ends the job long before its wall-clock limit."""
    outcome = await sandbox.run(code(tmp_path, "while True: pass", limits=Limits(wall_seconds=20, cpu_seconds=0.5)))
    assert outcome.timed_out
    assert outcome.cpu_seconds < 3


async def test_a_huge_allocation_is_out_of_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    """One allocation above the limit ends the job at once."""
    outcome = await sandbox.run(code(tmp_path, "bytearray(100 << 30)"))
    assert (outcome.out_of_memory, outcome.describe()) == (True, "out of memory")


@pytest.mark.parametrize(
    "grow",
    [
        "data.append(bytearray(b'x') * (1 << 20))",
        "data.append(mmap.mmap(-1, 1 << 20)); data[-1].write(b'x' * (1 << 20))",
    ],
)
async def test_growing_memory_is_out_of_memory(sandbox: Sandbox, tmp_path: Path, grow: str) -> None:
    """Private and shared memory that grows beyond the limit ends the job."""
    source = f"import mmap; data = []\nwhile True: {grow}"
    outcome = await sandbox.run(code(tmp_path, source, limits=Limits(memory_bytes=128 << 20)))
    assert outcome.out_of_memory, outcome


async def test_memory_that_nobody_saw_grow_is_out_of_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    """A job that failed for want of memory between two looks of the zygote is told from one that failed otherwise."""
    source = """
import os, pathlib, time
pathlib.Path('who').write_text(f'{os.getpid()} {os.getppid()}')
os.rename('who', 'begun')
while not os.path.exists('go'): time.sleep(0.01)
data = []
while True: data.append(bytearray(b'x') * (1 << 20))
"""
    running = asyncio.create_task(sandbox.run(code(tmp_path, source, limits=Limits(memory_bytes=64 << 20))))
    await appears(tmp_path / "begun")
    job, zygote = map(int, (tmp_path / "begun").read_text().split())
    os.kill(zygote, signal.SIGSTOP)
    try:
        (tmp_path / "go").touch()
        while state_of(job) != "Z":
            await asyncio.sleep(0.01)
    finally:
        os.kill(zygote, signal.SIGCONT)
    outcome = await running

    assert b"MemoryError" in outcome.stderr
    assert outcome.out_of_memory, outcome


async def test_a_failure_within_the_limit_is_no_want_of_memory(sandbox: Sandbox, tmp_path: Path) -> None:
    """A job that held less than it may and failed has failed for reasons of its own."""
    source = "data = bytearray(b'x') * (48 << 20)\nraise ValueError"
    outcome = await sandbox.run(code(tmp_path, source, limits=Limits(memory_bytes=64 << 20)))

    assert outcome.exit_code == 1
    assert not outcome.out_of_memory


async def test_address_space_may_be_reserved(sandbox: Sandbox, tmp_path: Path) -> None:
    """A terabyte without access costs nothing and is allowed."""
    assert (
        await sandbox.run(
            code(tmp_path, "import mmap; mmap.mmap(-1, 1 << 40, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 0)")
        )
    ).ok


async def test_a_large_file_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    """A file cannot grow beyond the limit."""
    source = "open('f', 'wb', buffering=0).write(b'x' * (2 << 20))\nopen('f', 'ab', buffering=0).write(b'x')"
    outcome = await sandbox.run(code(tmp_path, source, limits=Limits(file_bytes=1 << 20)))
    assert not outcome.ok
    assert (tmp_path / "f").stat().st_size == 1 << 20


@pytest.mark.parametrize(
    "write",
    [
        "open(f'f{n}', 'wb').write(bytes(1 << 20))",
        "f = os.open(f'f{n}', os.O_RDWR | os.O_CREAT); os.ftruncate(f, 1 << 20); mmap.mmap(f, 1 << 20).write(X)",
        "f = os.open(f'f{n}', os.O_RDWR | os.O_CREAT); os.posix_fallocate(f, 0, 1 << 20)",
    ],
)
async def test_what_a_job_writes_is_bounded(sandbox: Sandbox, tmp_path: Path, write: str) -> None:
    """Many files, however they are written, end the job when they are too much together."""
    source = f"import mmap, os, itertools\nX = b'x' * (1 << 20)\nfor n in itertools.count(): {write}"
    outcome = await sandbox.run(code(tmp_path, source, limits=Limits(written_bytes=64 << 20, wall_seconds=20)))
    assert outcome.wrote_too_much, outcome


async def test_output_is_bounded(sandbox: Sandbox, tmp_path: Path) -> None:
    """Output beyond the limit is thrown away and does not block the job."""
    source = "import os\nfor _ in range(100): os.write(1, b'x' * 100_000)"
    outcome = await sandbox.run(code(tmp_path, source, limits=Limits(output_bytes=1000)))
    assert outcome.ok
    assert outcome.stdout == b"x" * 1000


async def test_a_fork_bomb_is_contained(sandbox: Sandbox, tmp_path: Path) -> None:
    """A tree beyond its number of processes is killed whole, and nothing of it is left."""
    marker = f"bomb{os.getpid()}"
    outcome = await sandbox.run(program(tmp_path, f"'{marker}'; import os\nwhile True: os.fork()"))
    assert outcome.too_many_processes
    assert processes_with(marker) == []


async def test_orphans_are_killed(sandbox: Sandbox, tmp_path: Path) -> None:
    """What a program leaves behind ends with it."""
    marker = f"orphan{os.getpid()}"
    source = f"'{marker}'; import os, time\nif os.fork() == 0 and os.fork() == 0: time.sleep(60)"
    outcome = await sandbox.run(program(tmp_path, source))
    assert outcome.ok
    assert processes_with(marker) == []


async def test_cancelling_kills_the_tree(sandbox: Sandbox, tmp_path: Path) -> None:
    """A cancelled run returns when its processes are gone."""
    marker = f"cancel{os.getpid()}"
    job = program(tmp_path, f"'{marker}'; import os, time; os.fork(); open('up', 'w'); time.sleep(60)")
    running = asyncio.create_task(sandbox.run(job))
    await appears(tmp_path / "up")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert processes_with(marker) == []


async def test_a_dead_zygote_is_unavailable_and_comes_back(sandbox: Sandbox, tmp_path: Path) -> None:
    """When the zygote is killed its jobs die and fail as a platform fault; the next job runs."""
    marker = f"zygote{os.getpid()}"
    job = program(tmp_path, f"'{marker}'; import os, time; os.fork(); open('up', 'w'); time.sleep(60)")
    running = asyncio.create_task(sandbox.run(job))
    await appears(tmp_path / "up")
    leader = os.getpgid(processes_with(marker)[0])
    os.kill(parent_of(leader), signal.SIGKILL)
    with pytest.raises(errors.Unavailable):
        await running
    await asyncio.sleep(0.1)
    assert processes_with(marker) == []
    assert (await sandbox.run(code(tmp_path, "print('back')"))).stdout == b"back\n"


async def test_nothing_outlives_the_parent(tmp_path: Path) -> None:
    """When the process that owns the sandbox is killed, the zygote and its jobs end."""
    marker = f"parent{os.getpid()}"
    source = (
        "import asyncio, sys\nfrom pathlib import Path\nfrom kernelvault.sandbox import *\n"
        f"job = Job(folder=Path({str(tmp_path)!r}), argv=({sys.executable!r}, '-I', '-c',"
        f' \'"{marker}"; import os, time; os.fork(); open("up", "w"); time.sleep(60)\'),'
        f" readable=({', '.join(f'Path({str(p)!r})' for p in PYTHON)},), limits=Limits(processes=4))\n"
        "async def main(): await (await Sandbox.start()).run(job)\nasyncio.run(main())"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", source, cwd=Path(__file__).parents[2])
    await appears(tmp_path / "up")
    parent.kill()
    await parent.wait()
    await asyncio.sleep(0.3)
    assert processes_with(marker) == []


async def test_a_missing_program_is_a_platform_fault(sandbox: Sandbox, tmp_path: Path) -> None:
    """A program that is not there is nobody's verdict."""
    with pytest.raises(errors.Unavailable, match="failed to execute '/no/such'"):
        await sandbox.run(Job(folder=tmp_path, argv=("/no/such",)))


async def test_a_package_that_is_not_installed_is_unfit() -> None:
    """A preload that cannot be had is refused at the start."""
    with pytest.raises(errors.Unfit, match="'no_such_package' is missing"):
        await Sandbox.start(["no_such_package.part"])


async def test_a_preload_that_fails_is_a_platform_fault(tmp_path: Path) -> None:
    """An import that fails in the zygote fails each entry job, says why, and makes the sandbox not ready."""
    sandbox = await Sandbox.start(["os.no_such_part"])
    with pytest.raises(errors.Unavailable, match="ModuleNotFoundError"):
        await sandbox.ready()
    with pytest.raises(errors.Unavailable, match="ModuleNotFoundError"):
        await sandbox.run(code(tmp_path, "pass"))
    assert (await sandbox.run(Job(folder=tmp_path, argv=("/bin/true",)))).ok
    await sandbox.close()


async def test_a_sandbox_that_cannot_start_says_so() -> None:
    """Once the imports have failed, each check says why, as long as they fail."""
    sandbox = await Sandbox.start(["os.no_such_part"])
    with pytest.raises(errors.Unavailable):
        await sandbox.ready()
    for _ in range(2):
        with pytest.raises(errors.Unavailable, match="ModuleNotFoundError"):
            await check_all(sandbox)
    await sandbox.close()


async def test_a_check_starts_a_dead_zygote_anew(sandbox: Sandbox, tmp_path: Path) -> None:
    """A sandbox whose zygote has died is fit again after a check, without a job that must fail first."""
    zygote = int((await sandbox.run(code(tmp_path, "import os; print(os.getppid())"))).stdout)
    os.kill(zygote, signal.SIGKILL)
    while state_of(zygote):  # the sandbox reaps it when it knows
        await asyncio.sleep(0.01)
    await check_all(sandbox)

    assert (await sandbox.run(code(tmp_path, "pass"))).ok


async def test_many_jobs_run_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    """Each of many concurrent jobs gets its own payload and output."""
    jobs = [sandbox.run(code(tmp_path, f"print({number})")) for number in range(20)]
    assert [int(outcome.stdout) for outcome in await asyncio.gather(*jobs)] == list(range(20))


async def test_torch_is_warm(tmp_path: Path) -> None:
    """An entry job computes with a preloaded torch, and hands the result over in a memory file."""
    sandbox = await Sandbox.start(["torch"])
    descriptor = memory.output(16)
    source = (
        "import torch, os; os.pwrite(result, (torch.ones(64, 64) @ torch.ones(64, 64))[0, :4].numpy().tobytes(), 0)"
    )
    outcome = await sandbox.run(code(tmp_path, source, descriptors={"result": descriptor}))
    await sandbox.close()
    assert outcome.ok, outcome
    assert memory.collect(descriptor).cast("f").tolist() == [64.0] * 4


def test_a_sealed_file_cannot_change() -> None:
    """Nobody can write, grow or shrink a sealed memory file."""
    descriptor = memory.sealed(b"fixed")
    for change in (lambda: os.pwrite(descriptor, b"x", 0), lambda: os.ftruncate(descriptor, 1)):
        with pytest.raises(PermissionError):
            change()
    assert bytes(memory.collect(descriptor)) == b"fixed"


async def test_an_output_file_keeps_its_size(sandbox: Sandbox, tmp_path: Path) -> None:
    """A child cannot make an output file longer or shorter; collecting freezes it."""
    descriptor = memory.output(4)
    source = (
        "import os\nos.pwrite(f, b'data', 0)\n"
        "for n in (1, 9):\n try: os.ftruncate(f, n)\n except PermissionError: print('no')"
    )
    assert (await sandbox.run(code(tmp_path, source, descriptors={"f": descriptor}))).stdout == b"no\nno\n"
    assert bytes(memory.collect(descriptor)) == b"data"
    with pytest.raises(PermissionError):
        os.pwrite(descriptor, b"x", 0)


async def test_a_file_that_a_child_still_writes_is_not_collected() -> None:
    """Collecting fails where somebody keeps the file mapped for writing."""
    import mmap

    descriptor = memory.output(4096)
    with mmap.mmap(descriptor, 4096), pytest.raises(errors.Unavailable, match="still mapped"):
        memory.collect(descriptor)


def test_a_mapping_that_is_about_to_go_is_waited_for() -> None:
    """The memory of a process that has ended may last while somebody looks at it: that is nobody's fault."""
    import mmap

    descriptor = memory.output(4096)
    mapping = mmap.mmap(descriptor, 4096)
    timer = threading.Timer(0.1, mapping.close)
    timer.start()
    assert len(memory.collect(descriptor)) == 4096
    timer.join()


def test_seals_of_another_are_found() -> None:
    """Whoever seals a file so that it cannot be frozen is told from a platform that fails."""
    import fcntl

    descriptor = memory.output(4096)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL)
    with pytest.raises(memory.SealsChanged):
        memory.collect(descriptor)


@pytest.mark.parametrize(
    ("traits", "words"),
    [
        (("linux", "x86_64", 0, True, True), "no Landlock"),
        (("linux", "x86_64", 3, True, True), "ABI is 3, 4 is needed"),
        (("linux", "x86_64", 7, False, True), "seccomp"),
        (("linux", "x86_64", 7, True, False), "CONFIG_PROC_CHILDREN"),
        (("darwin", "arm64", 0, False, True), "needs Linux on x86-64"),
    ],
)
def test_an_unfit_machine_is_refused(traits: tuple[str, str, int, bool, bool], words: str) -> None:
    """A machine without what the sandbox needs is refused with the reason; there is no weaker sandbox."""
    assert words in (fitness.refusal(*traits) or "")


def test_this_machine_is_fit() -> None:
    """The check passes where these tests run."""
    check_platform()
    assert fitness.refusal("linux", "x86_64", 4, True, True) is None


@pytest.mark.parametrize(
    "arguments", [{}, {"argv": ("/bin/true",), "entry": "a:b"}, {"argv": ("true",)}, {"entry": "a.b"}]
)
def test_a_malformed_job_is_refused(tmp_path: Path, arguments: dict[str, object]) -> None:
    """A job is one program with an absolute path, or one entry."""
    with pytest.raises(ValueError, match="failed to make a job"):
        Job(folder=tmp_path, **arguments)  # type: ignore[arg-type]


def test_an_outcome_describes_itself() -> None:
    """A signal is called by its name."""
    outcome = Outcome(exit_code=None, signal=11, timed_out=False, out_of_memory=False)
    assert outcome.describe() == "killed by SIGSEGV"
