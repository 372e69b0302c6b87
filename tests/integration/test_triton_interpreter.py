"""The interpreter against Triton's own: faults that are repaired, and the language that kernels use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
PROGRAM = Path(__file__).parents[1] / "programs" / "triton_interpreter.py"
# Of the cases of PROGRAM, those that Triton 3.7's own interpreter gets wrong or cannot run.
FAULTS = {
    "annotation_as_text": "raised",
    "atomics_of_floats": "raised",
    "attributes": "wrong",
    "bfloat16_among_others": "raised",
    "bfloat16_arithmetic": "wrong",
    "bfloat16_atomic_add": "raised",
    "bfloat16_dot": "wrong",
    "bfloat16_rounds_to_even": "wrong",
    "cuda_library": "raised",
    "float8_rounds_to_even": "wrong",
    "float_scalars_are_float32": "wrong",
    "float_to_integer_saturates": "wrong",
    "functions_of_scalars": "raised",
    "generic_library": "raised",
    "grid_as_list": "raised",
    "hip_library": "raised",
    "logic_of_blocks": "wrong",
    "loop_counters_wrap": "raised",
    "not_a_number": "wrong",
    "places_of_the_largest": "wrong",
}
LANGUAGE = [
    "arrangements",
    "bfloat16_to_integer",
    "block_pointers_and_descriptors",
    "control_flow",
    "doubles",
    "float16_dot_accumulates_in_float32",
    "float16_sums_round_each_step",
    "float8_to_float32",
    "histograms",
    "integers",
    "largest_few",
    "products_of_bytes_and_batches",
    "random_numbers",
    "reductions_of_rows",
    "scans_of_pairs",
]


def outcomes(*arguments: str) -> dict[str, str]:
    """What PROGRAM prints."""
    root = Path(__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
    )
    found: dict[str, str] = json.loads(ran.stdout)
    return found


@pytest.fixture(scope="module")
def stock() -> dict[str, str]:
    """The cases as Triton's own interpreter runs them."""
    return outcomes()


@pytest.fixture(scope="module")
def ours() -> dict[str, str]:
    """The cases under `hooks.checked`."""
    return outcomes("ours")


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_repaired_fault(name: str, stock: dict[str, str], ours: dict[str, str]) -> None:
    """What Triton's own interpreter gets wrong is right."""
    assert stock[name].startswith(f"{FAULTS[name]}: ")
    assert ours[name] == "right"


@pytest.mark.parametrize("name", LANGUAGE)
def test_language(name: str, ours: dict[str, str]) -> None:
    """What kernels use gives what a GPU gives."""
    assert ours[name] == "right"


def test_every_case_is_judged(ours: dict[str, str]) -> None:
    """No case is left out here, and no right kernel has a finding."""
    assert sorted(ours) == sorted([*FAULTS, *LANGUAGE])
