"""Everything is compared, and a mismatch is explained so that its author can act."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelvault.replay import bundle, compare_child
from kernelvault.v1 import compiler_pb2, kernel_pb2

Array = np.ndarray[Any, Any]
_EXPECTED = np.linspace(-2, 2, 48, dtype=np.float32).reshape(6, 8)


def _item(name: str, array: Array) -> bundle.Item:
    array = np.ascontiguousarray(array)
    return bundle.Item(name, bundle.contiguous_view(str(array.dtype), array.shape), memoryview(array.tobytes()))


def _judge(
    *repetitions: list[Array], inputs_after: Array | None = None, expected: list[Array] | None = None
) -> compiler_pb2.CaseResult:
    expected = [_EXPECTED] if expected is None else expected
    named = [(f"out_{index}", array) for index, array in enumerate(expected)]
    wide = [_item(name, a.astype(np.float64) if a.dtype.kind == "f" else a) for name, a in named]
    given = [_item("x", np.arange(4, dtype=np.float32)), bundle.Item("n", scalar=4)]
    bundles = {
        "inputs": given,
        "working": [_item(name, a) for name, a in named],
        "exact": [*wide, bundle.Item("accumulation", scalar=1)],
    }
    for index, outputs in enumerate(repetitions):
        bundles[f"output_{index}"] = [_item("", output) for output in outputs]
    if inputs_after is not None:
        bundles["inputs_after"] = [_item("x", inputs_after)]
    buffers = {name: memoryview(bundle.pack(items)) for name, items in bundles.items()}
    return compare_child.judge(kernel_pb2.Case(id="case"), buffers, kernel_pb2.Tolerance())


def test_equal_outputs_pass() -> None:
    """The reference's own values pass, with errors of zero."""
    result = _judge([_EXPECTED], [_EXPECTED])
    assert result.passed
    assert result.explanation == ""
    assert result.outputs[0].element_count == 48
    assert result.outputs[0].max_absolute_error == 0


def _with(index: tuple[int, int], value: float) -> Array:
    changed = _EXPECTED.copy()
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("output", "explanation"),
    [
        (_with((3, 5), 9), "1 of 48 elements differ; first at [3, 5]: expected 0.468085, got 9"),
        (_with((3, 5), np.nan), "expected 0.468085, got nan"),
        (np.zeros_like(_EXPECTED), "the whole output is zero"),
        (np.full_like(_EXPECTED, 0.5), "the whole output is one value"),
        (np.full_like(_EXPECTED, np.nan), "all of these are NaN: memory that no thread wrote, or 0/0"),
        (_EXPECTED * 3, "every element is 3 times the expected one"),
        (
            np.where(np.arange(48).reshape(6, 8) < 40, _EXPECTED, 7).astype(np.float32),
            "from flat index 40 on are wrong",
        ),
        (_EXPECTED[:, ::-1][[0]].repeat(6, 0), "elements differ"),
        (_EXPECTED.astype(np.float64), "dtype is float64, expected float32"),
        (_EXPECTED[:1], "shape is [1, 8], expected [6, 8]"),
        (_EXPECTED.reshape(-1), "shape is [48], expected [6, 8]"),
    ],
)
def test_a_mismatch_is_explained(output: Array, explanation: str) -> None:
    """Each kind of wrong output fails, in words that say where and how."""
    result = _judge([output])
    assert not result.passed
    assert result.explanation.startswith("output 0 (out_0): ")
    assert explanation in result.explanation


def test_rows_that_are_wrong_are_named() -> None:
    """Mismatches that fill whole rows are told by their index."""
    output = _EXPECTED.copy()
    output[[1, 4]] += 1
    assert "exactly the indices [1, 4] of dimension 0 are wrong" in _judge([output]).explanation


def test_every_output_counts() -> None:
    """A second output that is left stale fails the case."""
    other = _EXPECTED * 2
    result = _judge([_EXPECTED, np.zeros_like(other)], expected=[_EXPECTED, other])
    assert not result.passed
    assert result.explanation.startswith("output 1 (out_1): ")
    assert [output.mismatched_count for output in result.outputs] == [0, 48]


def test_the_number_of_outputs_counts() -> None:
    """One output too many or too few fails."""
    assert _judge([_EXPECTED, _EXPECTED]).explanation == "2 outputs were returned, 1 are expected"


def test_no_repetition_is_no_pass() -> None:
    """A case that never ran did not pass."""
    assert not _judge().passed


def test_a_later_repetition_must_match_too() -> None:
    """Right the first time and wrong the second is wrong."""
    result = _judge([_EXPECTED], [_with((0, 0), 9)])
    assert not result.passed
    assert result.explanation.startswith("in repetition 2, not in the first: output 0")


def test_nondeterminism_within_the_tolerance_is_a_remark() -> None:
    """Atomics reorder sums: repetitions that differ within the tolerance pass, and the result says so."""
    result = _judge([_EXPECTED], [_with((3, 5), np.nextafter(_EXPECTED[3, 5], np.float32(9)))])
    assert result.passed
    assert result.explanation == (
        "not deterministic: repetition 2 differs from the first at 1 elements of output 0, first at [3, 5], "
        "within the tolerance"
    )


def test_changed_inputs_fail() -> None:
    """An input that is not what it was, to the bit, fails the case."""
    untouched, changed = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32)
    changed[0] = -0.0
    assert _judge([_EXPECTED], inputs_after=untouched).passed
    result = _judge([_EXPECTED], inputs_after=changed)
    assert result.explanation == "input 'x' was changed; inputs are read-only, write to the outputs"


def test_integers_must_be_equal() -> None:
    """An index that is one off is wrong."""
    expected = np.arange(5, dtype=np.int64)
    assert _judge([expected], expected=[expected]).passed
    result = _judge([expected + 1], expected=[expected])
    assert "expected 0, got 1" in result.explanation
    assert result.outputs[0].max_absolute_error == 1


def test_infinite_errors_are_finite_messages() -> None:
    """A NaN in the output gives an infinite error, never a NaN that compares as small."""
    result = _judge([_with((0, 0), np.nan)])
    assert result.outputs[0].max_absolute_error == float("inf")


def test_empty_outputs_are_compared() -> None:
    """An empty output passes where one is expected, without dividing by zero."""
    empty = np.zeros((0, 3), np.float32)
    assert _judge([empty], expected=[empty]).passed


def test_unreadable_outputs_fail_the_candidate() -> None:
    """Bytes that are no bundle came from the candidate's process: a failed case, no error of ours."""
    item = _item("out", _EXPECTED)
    wide = _item("out", _EXPECTED.astype(np.float64))
    buffers = {
        "inputs": memoryview(bundle.pack([])),
        "working": memoryview(bundle.pack([item])),
        "exact": memoryview(bundle.pack([wide])),
        "output_0": memoryview(bytes(100)),
    }
    result = compare_child.judge(kernel_pb2.Case(id="case"), buffers, kernel_pb2.Tolerance())
    assert not result.passed
    assert result.explanation.startswith("the outputs cannot be read: starts with")
