"""A run with a model that errs, reflects and mends, by the command line, with all services."""

from __future__ import annotations

import asyncio
import dataclasses
import json
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


ONE_FUNCTION = """
__device__ float sum_of(float a, float b) { return a + b; }

__global__ void add(const float* a, const float* b, float* out, int64_t n) {
    int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = sum_of(a[i], b[i]);
}
"""


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


async def test_one_function_is_made_faster(world: World) -> None:
    """What changes more than the function is refused with the reason; the next answer takes the function's place."""
    world.model.wrong, world.model.right = f"#define run walk{ONE_FUNCTION}", ONE_FUNCTION
    [row] = (await world.run("--optimize", EXAMPLES / "add.hip", "--kernel", "add"))["tasks"]

    assert (row["verdict"], row["attempts"]) == ("PASSED", 2), row["note"]
    assert row["speedup"] > 0.9
    assert "it changes `run`, which lies outside of the kernel" in world.model.asked[-1][1]
    kept = await asyncio.to_thread(world.cluster.json, "corpus", "show", row["sample"])
    assert (kept["lineage"]["baseline"], kept["lineage"]["kernel"]) == (row["baseline"], "add")
    shown = await asyncio.to_thread(world.cluster.command, "corpus", "show", row["sample"])
    assert "of the tokens differ" in shown.stdout


async def test_rules_are_set_against_a_baseline(world: World, tmp_path: Path) -> None:
    """Without a model whole sources are tried; a wrong baseline, or a kernel that is not there, ends it at once."""
    found = await asyncio.to_thread(world.cluster.json, "run", ADD, "--optimize", EXAMPLES / "add.hip")
    [row] = found["tasks"]
    assert (row["verdict"], row["attempts"]) == ("PASSED", 2), row["note"]
    assert 0.1 < row["speedup"] < 10

    wrong = tmp_path / "wrong.hip"
    wrong.write_text(HIP.replace("if (i < n)", "if (i <= n)"))
    ended = await asyncio.to_thread(world.cluster.command, "run", ADD, "--optimize", wrong, "--json")
    [row] = json.loads(ended.stdout)["tasks"]
    assert (ended.returncode, row["attempts"]) == (1, 0)
    assert row["note"].startswith("the baseline does not pass: UNSAFE: Case one: wrong.hip:7")

    [row] = (await world.run("--optimize", EXAMPLES / "add.hip", "--kernel", "sub"))["tasks"]
    assert "'sub' is no kernel of the source: it defines `add(" in row["note"]
    by_rules = ("run", ADD, "--optimize", EXAMPLES / "add.hip", "--kernel", "add")
    refused = await asyncio.to_thread(world.cluster.command, *by_rules)
    assert (refused.returncode, "rules writes whole sources: leave out --kernel" in refused.stderr) == (2, True)
