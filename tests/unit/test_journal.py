"""The journal of a run."""

from pathlib import Path

import pytest

from kernelvault.v1.kernel_pb2 import Reflection
from orchestrator.journal import Journal
from orchestrator.mistake import Mistake

OPTIONS = {"attempts": 2, "model": "rules"}


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """What was acknowledged before a crash is known after it."""
    path = tmp_path / "demo.jsonl"
    first = Journal(path)
    first.open(OPTIONS, {"a", "b"})
    first.attempt("a", "samples/1")
    first.end("a", "nothing better known")
    first.baseline("b", "samples/0")
    first.attempt("b", "samples/2")

    again = Journal(path)

    assert again.open(OPTIONS, {"a", "b"})
    assert (again.entry("a").ended, again.entry("a").note) == (True, "nothing better known")
    assert (again.entry("b").ended, again.entry("b").samples) == (False, ["samples/2"])
    assert (again.entry("a").baseline, again.entry("b").baseline) == ("", "samples/0")


def test_a_finished_run_begins_anew(tmp_path: Path) -> None:
    """Asking again for a run that is over does it again."""
    path = tmp_path / "demo.jsonl"
    first = Journal(path)
    first.open(OPTIONS, {"a"})
    first.end("a", "")

    again = Journal(path)

    assert not again.open(OPTIONS, {"a"})
    assert again.entries == {}


def test_a_line_that_was_cut_by_a_crash_did_not_happen(tmp_path: Path) -> None:
    """A torn line is dropped, and what is written after it can be read."""
    path = tmp_path / "demo.jsonl"
    first = Journal(path)
    first.open(OPTIONS, {"a"})
    first.attempt("a", "samples/1")
    path.write_text(path.read_text() + '{"key": "a", "sam')

    again = Journal(path)
    again.open(OPTIONS, {"a"})
    again.attempt("a", "samples/2")
    last = Journal(path)
    last.open(OPTIONS, {"a"})

    assert last.entry("a").samples == ["samples/1", "samples/2"]


def test_an_unfinished_run_keeps_its_options(tmp_path: Path) -> None:
    """Half a run with one model and half with another would be neither."""
    path = tmp_path / "demo.jsonl"
    Journal(path).open(OPTIONS, {"a"})

    with pytest.raises(Mistake, match="model was 'rules'"):
        Journal(path).open({**OPTIONS, "model": "other"}, {"a"})


def test_an_option_that_is_gone_is_named(tmp_path: Path) -> None:
    """A run that was begun without reflections does not go on with them."""
    path = tmp_path / "demo.jsonl"
    Journal(path).open({**OPTIONS, "reflect": False}, {"a"})

    with pytest.raises(Mistake, match="reflect was False"):
        Journal(path).open(OPTIONS, {"a"})


def test_reflections_are_remembered(tmp_path: Path) -> None:
    """What the model said of a sample, and that it said nothing, is known after a crash."""
    path = tmp_path / "demo.jsonl"
    first = Journal(path)
    first.open(OPTIONS, {"a"})
    said = Reflection(model="models/m", text="It races.", prompt_tokens=9)
    first.reflection("a", "samples/1", said)
    first.reflection("a", "samples/2", Reflection())

    again = Journal(path)
    again.open(OPTIONS, {"a"})

    assert again.entry("a").reflections == {"samples/1": said, "samples/2": Reflection()}


def test_two_processes_do_not_work_on_one_run(tmp_path: Path) -> None:
    """The second is told so."""
    path = tmp_path / "demo.jsonl"
    with Journal(path).exclusive(), pytest.raises(Mistake, match="is going on already"), Journal(path).exclusive():
        pass
