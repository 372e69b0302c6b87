"""Makes the cases of a task by running its reference; inside the sandboxed child.

`get_cases` names the shapes, and distributions rotate over its correctness cases. Without it, cases differ by seed,
distribution, strides and, where module-level integers allow it, by one other shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from kernelvault.replay import cases, reference_draw, reference_module, reference_run, tolerance
from kernelvault.replay import reference_faults as faults
from kernelvault.replay import reference_size as sizes
from kernelvault.replay import reference_tensors as tensors
from kernelvault.replay.reference_module import Module
from kernelvault.v1 import kernel_pb2

Case = kernel_pb2.Case
_OWN_KEYS = ("id", "kind", "hidden", "distributions")
_KINDS = {"correctness": Case.CORRECTNESS, "performance": Case.PERFORMANCE}
_ROTATION = (Case.GIVEN, Case.NORMAL, Case.LARGE, Case.UNIFORM, Case.NEGATIVE, Case.TINY, Case.ZEROS)
_STRIDED_EVERY = 3
# Cases of a task without `get_cases`, the most telling first: id, distribution, strided.
_AUTOMATIC = (
    ("given", Case.GIVEN, False),
    ("normal-strided", Case.NORMAL, True),
    ("large", Case.LARGE, False),
    ("resized", Case.NORMAL, False),
    ("negative", Case.NEGATIVE, False),
    ("uniform-strided", Case.UNIFORM, True),
    ("tiny", Case.TINY, False),
    ("zeros", Case.ZEROS, False),
    ("given-strided", Case.GIVEN, True),
    ("given-2", Case.GIVEN, False),
)


class Describer:
    """Describes one task: `cases` and `notes` are its results."""

    def __init__(self, source: str, folder: Path, *, key: bytes, max_cases: int, stated: kernel_pb2.Tolerance) -> None:
        self._module = Module(source, folder)
        self._folder = folder
        self._key = key
        self._max_cases = max_cases
        self._stated = stated
        self._used: Counter[int] = Counter()
        self.cases: list[Case] = []
        self.notes: list[str] = []

    def describe(self) -> None:
        """Fills in `cases` and `notes`; raises Malformed or Unfit."""
        listed = self._module.attribute("get_cases")
        if listed is None:
            self._automatic()
        else:
            self._listed(self._module.guard("get_cases()", listed))
        if not any(case.kind == Case.CORRECTNESS for case in self.cases):
            raise faults.Malformed("get_cases() has no correctness case; give at least one")
        self._note_weak_oracles()

    def _automatic(self) -> None:
        shrunk = sizes.shrink(self._module, self._folder)
        if shrunk.constants:
            self.notes.append(_shrunk_note(self._module, shrunk.constants))
        if not shrunk.size.fits:
            self.notes.append(_large_note("the given inputs", shrunk.size))
        modules = {name: shrunk for name, *_ in _AUTOMATIC}
        other = sizes.resized(self._module, self._folder, shrunk.constants)
        if other is None:
            del modules["resized"]
        else:
            modules["resized"] = other
        for name, distribution, strided in _AUTOMATIC:
            if name in modules and len(self.cases) < self._max_cases:
                case = Case(id=name, kind=Case.CORRECTNESS, distribution=distribution, strided=strided)
                case.shrunk.update(modules[name].constants)
                self._try(modules[name].module, {}, case)
        if shrunk.constants:
            self._performance(Case(id="original", kind=Case.PERFORMANCE, distribution=Case.GIVEN), {})

    def _listed(self, listed: Any) -> None:
        entries = list(_entries(listed, self._module))
        correctness = [entry for entry in entries if entry[0].kind == Case.CORRECTNESS]
        chosen = _spread(correctness, self._max_cases)
        if len(chosen) < len(correctness):
            self.notes.append(f"{len(chosen)} of the {len(correctness)} correctness cases of get_cases are used")
        position = 0
        for case, arguments, distributions in entries:
            if case.kind == Case.PERFORMANCE:
                self._performance(case, arguments)
            elif any(case is other for other, *_ in chosen):
                case.strided = position % _STRIDED_EVERY == _STRIDED_EVERY - 1
                self._rotate(case, arguments, distributions)
                position += 1

    def _rotate(self, case: Case, arguments: Mapping[str, Any], listed: Sequence[int] | None) -> None:
        """Adds the case under a distribution that works, the least used ones being tried first."""
        allowed = [Case.GIVEN, *(d for d in listed if d != Case.GIVEN)] if listed is not None else list(_ROTATION)
        for distribution in sorted(allowed, key=lambda d: self._used[d]):
            case.distribution = distribution  # type: ignore[assignment]
            if self._try(self._module, arguments, case, trusted=listed is not None):
                self._used[distribution] += 1
                return

    def _try(self, module: Module, arguments: Mapping[str, Any], case: Case, *, trusted: bool = False) -> bool:
        """Adds a correctness case if the reference works under its distribution; GIVEN must work."""
        call = reference_draw.prepare(module, arguments, case, cases.seed(self._key, case.id))
        if case.distribution != Case.GIVEN and not _has_generic_input(call):
            return False
        first = not self.cases
        try:
            result = reference_run.run_checked(call) if first else reference_run.run(call)
        except faults.Unfit:
            if case.distribution == Case.GIVEN:
                raise
            return False
        if case.distribution != Case.GIVEN and not self._well_conditioned(call, result):
            return False
        if case.distribution != Case.GIVEN and not trusted and not self._accepts(module, arguments, case, result):
            return False
        _fill(case, call, result)
        self.cases.append(case)
        if cases.elements([*case.parameters, *case.outputs]) > cases.MAX_ELEMENTS and self._module.attribute(
            "get_cases"
        ):
            self.notes.append(f"case {case.id} is large for the CPU model; make it a performance case")
        return True

    def _accepts(self, module: Module, arguments: Mapping[str, Any], case: Case, result: reference_run.Result) -> bool:
        """Whether the outputs are finite, and vary where those of the given inputs do (zeros may give a constant)."""
        if not all(_finite(tensor) for _, tensor in result.outputs):
            return False
        if case.distribution == Case.ZEROS or all(_varies(tensor) for _, tensor in result.outputs):
            return True
        given = Case(distribution=Case.GIVEN)
        call = reference_draw.prepare(module, arguments, given, cases.seed(self._key, case.id))
        outputs = zip(result.outputs, reference_run.run(call).outputs, strict=True)
        return all(_varies(here) or not _varies(there) for (_, here), (_, there) in outputs)

    def _well_conditioned(self, call: reference_draw.Call, result: reference_run.Result) -> bool:
        """Whether the working dtype can compute the function on these inputs, within the tolerance."""
        exact = reference_run.run_exact(call, result)
        for (_, working), (_, precise) in zip(result.outputs, exact.outputs, strict=True):
            dtype = tensors.dtype_name(working.dtype)
            narrow, wide = tensors.to_numpy(working), tensors.to_numpy(precise)
            bound = tolerance.derive(dtype, wide, narrow, accumulation=exact.accumulation, stated=self._stated)
            if not tolerance.well_conditioned(narrow, wide, bound, dtype):
                return False
        return True

    def _performance(self, case: Case, arguments: Mapping[str, Any]) -> None:
        try:
            size = sizes.measure(self._module, arguments)
        except faults.Unfit as error:
            self.notes.append(f"performance case {case.id} is left out: the reference {error}")
            return
        case.distribution = Case.GIVEN
        case.parameters.extend(size.parameters)
        case.outputs.extend(size.outputs)
        case.returns_sequence = size.returns_sequence
        self.cases.append(case)

    def _note_weak_oracles(self) -> None:
        """Says what any kernel could pass."""
        outputs = [o for case in self.cases for o in case.outputs if o.HasField("tensor")]
        if outputs and all(0 in output.tensor.dims for output in outputs):
            self.notes.append("every output is empty: any kernel passes this task")


def _entries(listed: Any, module: Module) -> Iterator[tuple[Case, dict[str, Any], list[int] | None]]:
    """The cases of `get_cases`, their arguments and the distributions that they allow; raises Malformed."""
    if not isinstance(listed, list | tuple) or not 0 < len(listed) <= cases.MAX_CASES:
        raise faults.Malformed(f"get_cases() is no list of 1 to {cases.MAX_CASES} dicts")
    taken: set[str] = set()
    for index, entry in enumerate(listed):
        where = f"get_cases()[{index}]"
        if not isinstance(entry, Mapping) or not all(isinstance(key, str) for key in entry):
            raise faults.Malformed(f"{where} is no dict with names as keys")
        case = _read_case(entry, index, where)
        if case.id in taken:
            raise faults.Malformed(f"{where}['id'] {case.id!r} stands twice; give each case its own id")
        taken.add(case.id)
        arguments = {key: value for key, value in entry.items() if key not in _OWN_KEYS}
        module.check_arguments(arguments, where)
        case.arguments_json = reference_module.encode_arguments(arguments, where)
        yield case, reference_module.decode_arguments(case.arguments_json), _distributions(entry, where)


def _read_case(entry: Mapping[str, Any], index: int, where: str) -> Case:
    kind = entry.get("kind", "correctness")
    if kind not in _KINDS:
        raise faults.Malformed(f"{where}['kind'] is {kind!r}; use 'correctness' or 'performance'")
    case = Case(id=str(entry.get("id", f"case-{index}")), kind=_KINDS[kind], hidden=bool(entry.get("hidden", False)))
    if not cases.is_id(case.id):
        raise faults.Malformed(f"{where}['id'] is {case.id[:120]!r}; use {cases.ID_RULE}")
    return case


def _distributions(entry: Mapping[str, Any], where: str) -> list[int] | None:
    listed = entry.get("distributions")
    if listed is None:
        return None
    if not isinstance(listed, list | tuple) or not all(name in cases.DISTRIBUTIONS for name in listed):
        known = ", ".join(cases.DISTRIBUTIONS)
        raise faults.Malformed(f"{where}['distributions'] is {listed!r}; list some of {known}")
    return [cases.DISTRIBUTIONS[name] for name in listed]


def _spread(entries: list[Any], most: int) -> list[Any]:
    """At most `most` of the entries, the first and the last among them, evenly spread."""
    if len(entries) <= most:
        return entries
    if most == 1:
        return entries[:1]
    return [entries[round(i * (len(entries) - 1) / (most - 1))] for i in range(most)]


def _fill(case: Case, call: reference_draw.Call, result: reference_run.Result) -> None:
    case.parameters.extend(call.parameters())
    case.outputs.extend(tensors.parameter(name, tensor) for name, tensor in result.outputs)
    case.returns_sequence = result.returns_sequence


def _has_generic_input(call: reference_draw.Call) -> bool:
    return any(isinstance(v, torch.Tensor) and v.dtype.is_floating_point for _, v in call.arguments)


def _finite(tensor: torch.Tensor) -> bool:
    return not tensor.dtype.is_floating_point or bool(torch.isfinite(tensor.float()).all())


def _varies(tensor: torch.Tensor) -> bool:
    return tensor.numel() < 2 or bool((tensor != tensor.flatten()[0]).any())


def _shrunk_note(module: Module, replaced: Mapping[str, int]) -> str:
    before = reference_module.constants(module.source)
    changes = ", ".join(f"{name} from {before[name]} to {value}" for name, value in sorted(replaced.items()))
    return f"correctness cases use smaller inputs, so that the CPU model can run them: {changes}"


def _large_note(what: str, size: sizes.Size) -> str:
    return (
        f"{what} stay large for the CPU model ({size.elements} elements, {size.flops} matrix operations): "
        "name the sizes as module-level integers, or write get_cases"
    )
