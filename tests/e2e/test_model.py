"""A run with a model that errs, reflects and mends, by the command line, with all services."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.cluster import Cluster
from tests.endpoint import Answer, FakeEndpoint, completion

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

EXAMPLES = Path(__file__).parents[2] / "examples"
ADD, HIP = EXAMPLES / "add.py", (EXAMPLES / "add.hip").read_text()
TRITON = """import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)


def module_fn(a, b):
    a, b = a.contiguous(), b.contiguous()
    out = torch.empty_like(a)
    add[(triton.cdiv(a.numel(), 256),)](a, b, out, a.numel(), BLOCK=256)
    return out
"""
REFLECTION = "The guard lets one thread too many pass: compare with `<`."


class Model:
    """Answers its first question with a wrong kernel, later ones with the right one; reflects where asked to."""

    def __init__(self) -> None:
        self.wrong = self.right = ""
        self.asked: list[tuple[str, str]] = []

    def answer(self, body: dict[str, Any]) -> Answer:
        system, user = (message["content"] for message in body["messages"])
        self.asked.append((system, user))
        if system.startswith("You review"):
            return completion(REFLECTION)
        return completion(f"An idea.\n\n```\n{self.wrong if len(self.asked) == 1 else self.right}```\n")


@dataclasses.dataclass
class World:
    """Services with a model."""

    model: Model
    cluster: Cluster

    async def run(self, *arguments: str | Path) -> Any:
        """What `kernelvault run` prints for programs."""
        return await asyncio.to_thread(self.cluster.json, "run", ADD, "--model", "m", "--attempts", "2", *arguments)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Services of their own, whose generator has the model's endpoint."""
    model = Model()
    async with FakeEndpoint(model.answer).serving() as endpoint:
        settings = {
            "KERNELVAULT_GENERATOR_OPENAI_ENDPOINT": endpoint.url,
            "KERNELVAULT_GENERATOR_OPENAI_MODELS": "m",
        }
        cluster = Cluster(tmp_path / "state", settings)
        try:
            started = await asyncio.to_thread(cluster.command, "up")
            assert started.returncode == 0, started.stderr
            yield World(model, cluster)
        finally:
            await asyncio.to_thread(cluster.command, "down")


class Slip(NamedTuple):
    """A right kernel, and how its guard goes wrong; `access` is in the line that then goes out of bounds."""

    right: str
    guard: str
    wrong_guard: str
    access: str


SLIPS = {
    "hip": Slip(HIP, "if (i < n)", "if (i <= n)", "out[i] = a[i] + b[i]"),
    "triton": Slip(TRITON, "offsets < n", "offsets <= n", "tl.load(a + offsets"),
}


@pytest.mark.parametrize("language", SLIPS)
async def test_a_model_mends_what_it_reflected_on(world: World, language: str) -> None:
    """An access out of bounds is found, reflected on with its line, and mended; the corpus tells the story."""
    slip = SLIPS[language]
    world.model.right, world.model.wrong = slip.right, slip.right.replace(slip.guard, slip.wrong_guard)
    assert world.model.wrong != world.model.right
    [row] = (await world.run("--language", language))["tasks"]

    assert (row["verdict"], row["attempts"]) == ("PASSED", 2), row["note"]
    assert list(row["reflections"].values()) == [REFLECTION]
    (_, first), (_, review), (_, second) = world.model.asked
    assert REFLECTION not in first + review
    assert "Verdict: UNSAFE" in review
    [line] = (line.strip() for line in world.model.wrong.splitlines() if slip.access in line)
    assert f"is `{line}`" in review
    assert f"> {REFLECTION}" in second
    shown = await asyncio.to_thread(world.cluster.command, "corpus", "show", row["samples"][1])
    assert "of which models/m said (100 + 20 tokens):" in shown.stdout
    assert "compare with <" in " ".join(shown.stdout.split())


async def test_a_port_remembers_its_seed(world: World, tmp_path: Path) -> None:
    """The model is shown the seed; the sample says where it came from; `rules` ports nothing."""
    seed = tmp_path / "old.cu"
    seed.write_text("__global__ void old_add(const float* a, const float* b, float* out, int n) {}\n")
    world.model.right = world.model.wrong = HIP
    [row] = (await world.run("--attempts", "1", "--seed-kernel", seed, "--seed-license", "MIT"))["tasks"]

    assert row["verdict"] == "PASSED", row["note"]
    assert "__global__ void old_add" in world.model.asked[0][1]
    shown = await asyncio.to_thread(world.cluster.command, "corpus", "show", row["samples"][0])
    assert f"ported from {seed} (MIT)" in "".join(shown.stdout.split("\n"))
    refused = await asyncio.to_thread(world.cluster.command, "run", ADD, "--seed-kernel", seed)
    assert (refused.returncode, "rules ports no seed kernel" in refused.stderr) == (2, True)
