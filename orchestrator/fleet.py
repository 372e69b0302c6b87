"""The S3 server and the five services as processes of this machine: started, found again, stopped."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from kernelvault.addresses import DEFAULT_PORTS
from kernelvault.config import PREFIX
from orchestrator import ports, processes, s3
from orchestrator.mistake import Mistake
from orchestrator.state import Record, State

S3 = "s3"
# In the order of their start; stopped in the opposite one.
SERVICES = ("corpus", "compiler", "generator", "profiler", "trainer")
_START_S = 30.0
_DRAIN_S = 10.0
Progress = Callable[[str, str], None]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """How a process is to run."""

    name: str
    address: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]

    @property
    def fingerprint(self) -> str:
        """Differs where the process has to be restarted; what tells one shell from the next takes no part."""
        settings = {name: value for name, value in self.environment.items() if name.startswith(PREFIX)}
        return hashlib.sha256(json.dumps([self.address, settings], sort_keys=True).encode()).hexdigest()


class Fleet:
    """Brings what should run and what runs together; `progress` hears of each service and what is done with it."""

    def __init__(
        self, state: State, environment: Mapping[str, str], progress: Progress = lambda name, what: None
    ) -> None:
        self._state = state
        self._environment = environment
        self._progress = progress
        # Where in its log each process began that this object started.
        self._log_starts: dict[str, int] = {}

    def up(self) -> dict[str, Record]:
        """Starts what does not run, restarts what runs with another configuration; returns the records.

        Raises Mistake, with the end of its log, if a process does not come up.
        """
        with self._state.locked():
            records = self._state.records()
            records[S3] = self._bring_up(self._plan_s3(records.get(S3)), records)
            where = {name: self._choose_address(name, records.get(name)) for name in SERVICES}
            started = {name: self._bring_up(self._plan(name, where, records[S3].address), records) for name in SERVICES}
            for name, record in started.items():
                records[name] = self._wait(name, record)
                self._state.write_records(records)
            return records

    def down(self) -> list[str]:
        """Stops all processes and returns the names of those that ran."""
        with self._state.locked():
            records = self._state.records()
            running = [name for name, record in records.items() if record.alive]
            order = [[name for name in reversed(SERVICES) if name in records], [S3] if S3 in records else []]
            for names in order:
                for name in set(names) & set(running):
                    self._progress(name, "stopping")
                pids = {records[name].pid: records[name].identity for name in names}
                processes.stop(pids, grace_s=_DRAIN_S + 5)
            if S3 in records:
                s3.clean(self._state, _port_of(records[S3].address))
            self._state.path("services.json").unlink(missing_ok=True)
            return running

    def _bring_up(self, plan: Plan, records: dict[str, Record]) -> Record:
        known = records.get(plan.name)
        if known and known.alive:
            if known.fingerprint == plan.fingerprint:
                self._progress(plan.name, "running")
                return known
            self._progress(plan.name, "restarting")
            processes.stop({known.pid: known.identity}, grace_s=_DRAIN_S + 5)
        else:
            self._progress(plan.name, "starting")
        self._ready_file(plan.name).unlink(missing_ok=True)
        log = self.log(plan.name)
        self._log_starts[plan.name] = log.stat().st_size if log.exists() else 0
        pid = processes.spawn(plan.argv, environment=plan.environment, log=log)
        record = Record(pid=pid, identity=processes.identity(pid), address=plan.address, fingerprint=plan.fingerprint)
        records[plan.name] = record
        # At once: a process that is not on record could not be stopped.
        self._state.write_records(records)
        return self._wait(plan.name, record) if plan.name == S3 else record

    def _wait(self, name: str, record: Record) -> Record:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            if not record.alive:
                raise Mistake(
                    f"failed to start {name}: it ended; the last lines of {self.log(name)}:\n{self._tail(name)}"
                )
            if name == S3 and ports.answers(record.address):
                return record
            if name != S3 and self._ready_file(name).exists():
                listening = dict(line.split(" ", 1) for line in self._ready_file(name).read_text("utf-8").splitlines())
                return dataclasses.replace(record, metrics=listening.get("metrics", ""))
            time.sleep(0.02)
        raise Mistake(
            f"failed to start {name} within {_START_S:.0f} s; the end of {self.log(name)}:\n{self._tail(name)}"
        )

    def log(self, name: str) -> Path:
        """The file that a process writes its log to."""
        return self._state.path("logs", f"{name}.log")

    def _tail(self, name: str) -> str:
        """What a process said since it was started."""
        said = self.log(name).read_bytes()[self._log_starts.get(name, 0) :]
        lines = said.decode("utf-8", "replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-8:]) or "  (empty)"

    def _ready_file(self, name: str) -> Path:
        return self._state.path("ready", name)

    def _choose_address(self, name: str, known: Record | None) -> str:
        given = self._environment.get(f"{PREFIX}{name.upper()}_ADDRESS")
        if given:
            return given
        # The others hold a service's address: it keeps its own as long as nobody else took it.
        if known and (known.alive or ports.is_free(_port_of(known.address))):
            return known.address
        return f"{ports.HOST}:{ports.prefer(DEFAULT_PORTS[name])}"

    def _plan_s3(self, known: Record | None) -> Plan:
        keeps = known and (known.alive or ports.is_free(_port_of(known.address)))
        port = _port_of(known.address) if known and keeps else s3.preferred_port()
        argv = tuple(s3.command(self._state, port))
        return Plan(name=S3, address=f"{ports.HOST}:{port}", argv=argv, environment=self._inherited())

    def _plan(self, name: str, where: Mapping[str, str], s3_address: str) -> Plan:
        settings = {
            "ADDRESS": where[name],
            "METRICS_PORT": "0",
            "READY_FILE": str(self._ready_file(name)),
            "DRAIN_SECONDS": str(_DRAIN_S),
            **self._settings(name, where, s3_address),
            **self._given(name),
        }
        environment = {**self._inherited(), **{PREFIX + key: value for key, value in settings.items()}}
        argv = (sys.executable, "-m", f"svc_{name}")
        return Plan(name=name, address=where[name], argv=argv, environment=environment)

    def _settings(self, name: str, where: Mapping[str, str], s3_address: str) -> dict[str, str]:
        """What each service needs beyond what all need."""
        if name == "corpus":
            return {
                "S3_ENDPOINT": s3_address,
                "S3_SECURE": "false",
                "S3_ACCESS_KEY": s3.ACCESS_KEY,
                "S3_SECRET_KEY_FILE": str(self._state.secret_file("s3")),
                "S3_BUCKET": s3.BUCKET,
            }
        settings = {"CORPUS_ADDRESS": where["corpus"]}
        if name == "profiler":
            # The same inputs after a restart: those in its cache are not made again.
            settings["CASE_SECRET"] = self._state.secret_file("profiles").read_text(encoding="ascii")
        if name == "compiler":
            settings["CASE_SECRET_FILE"] = str(self._state.secret_file("cases"))
            toolchain = self._environment.get(PREFIX + "TOOLCHAIN")
            settings |= {"TOOLCHAIN": toolchain} if toolchain else {}
        return settings

    def _given(self, name: str) -> dict[str, str]:
        """`KERNELVAULT_<SERVICE>_<FIELD>` of the caller's environment is that service's `KERNELVAULT_<FIELD>`."""
        start = f"{PREFIX}{name.upper()}_"
        return {key.removeprefix(start): value for key, value in self._environment.items() if key.startswith(start)}

    def _inherited(self) -> dict[str, str]:
        passed = (
            "PATH",
            "PYTHONPATH",
            "HOME",
            "LANG",
            "TZ",
            "TMPDIR",
            "OPENAI_API_KEY",
            "SSL_CERT_FILE",
            "LD_LIBRARY_PATH",
        )
        return {name: self._environment[name] for name in passed if name in self._environment}


def _port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def current(progress: Progress = lambda name, what: None) -> Fleet:
    """The fleet of this user's state folder."""
    return Fleet(State.open(), os.environ, progress)
