"""`up`, `down` and `status`."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from kernelvault.services import Client
from orchestrator import fleet, ports
from orchestrator.mistake import Mistake
from orchestrator.state import Record, State

_HEALTHY_S = 30.0
_console = Console()


def up() -> None:
    """Starts the fleet and waits until all of it serves; raises Mistake where a part does not."""
    started = time.monotonic()
    with _console.status("starting") as line:
        group = fleet.current(lambda name, what: line.update(f"{what} {name}"))
        records = group.up()
        line.update("waiting until all are serving")
        states = asyncio.run(_wait_until_serving(records))
    sick = [name for name, state in states.items() if state != "SERVING"]
    if sick:
        logs = ", ".join(str(group.log(name)) for name in sick)
        raise Mistake(f"{' and '.join(sick)} started but cannot work yet: see {logs}")
    _console.print(_table(records, states))
    _console.print(f"all serving after {time.monotonic() - started:.1f} s; stop them with `kernelvault down`")


def down() -> None:
    """Stops the fleet."""
    with _console.status("stopping") as line:
        stopped = fleet.current(lambda name, what: line.update(f"{what} {name}")).down()
    _console.print(f"stopped {', '.join(stopped)}" if stopped else "nothing was running")


def status(*, as_json: bool) -> int:
    """Prints the fleet; 0 if all of it serves, else 1."""
    records = State.open().records()
    states = asyncio.run(_states(records))
    if as_json:
        rows = {
            name: {"state": states[name], "pid": record.pid, "address": record.address, "metrics": record.metrics}
            for name, record in records.items()
        }
        print(json.dumps(rows, indent=2))
    elif records:
        _console.print(_table(records, states))
    else:
        _console.print("nothing was started: run `kernelvault up`")
    expected = {fleet.S3, *fleet.SERVICES}
    return 0 if {name for name, state in states.items() if state == "SERVING"} == expected else 1


def require(services: tuple[str, ...], *, start: bool) -> None:
    """Raises errors.Unavailable at once where a service does not answer; with `start` they are started instead."""

    async def check() -> None:
        async with Client() as client:
            await client.require(*services)

    if start and _ours(os.environ):
        fleet.current().up()
        asyncio.run(_wait_until_serving(State.open().records()))
    asyncio.run(check())


def _ours(environment: Mapping[str, str]) -> bool:
    """Whether the services are this machine's: none is named by its address."""
    return not any(f"KERNELVAULT_{name.upper()}_ADDRESS" in environment for name in fleet.SERVICES)


async def _wait_until_serving(records: Mapping[str, Record]) -> dict[str, str]:
    deadline = time.monotonic() + _HEALTHY_S
    while True:
        states = await _states(records)
        if set(states.values()) == {"SERVING"} or time.monotonic() > deadline:
            return states
        await asyncio.sleep(0.1)


async def _states(records: Mapping[str, Record]) -> dict[str, str]:
    addresses = {name: record.address for name, record in records.items() if name != fleet.S3}
    async with Client(addresses) as client:

        async def state(name: str, record: Record) -> str:
            if not record.alive:
                return "DIED"
            if name == fleet.S3:
                return "SERVING" if ports.answers(record.address) else "UNREACHABLE"
            return await client.health(name)

        states = await asyncio.gather(*(state(name, record) for name, record in records.items()))
        return dict(zip(records, states, strict=True))


def _table(records: Mapping[str, Record], states: Mapping[str, str]) -> Table:
    table = Table("service", "state", "pid", "address", "metrics")
    for name, record in records.items():
        colour = "green" if states[name] == "SERVING" else "red"
        table.add_row(name, f"[{colour}]{states[name]}[/]", str(record.pid), record.address, record.metrics)
    return table
