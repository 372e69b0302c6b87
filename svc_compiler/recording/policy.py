"""Whether host code only decides by what it reads from the device, or computes with it.

After its first copy from the device, host code may send little to the device: uploads of UPLOAD_BYTES in all, and
scalars of SCALAR_BYTES in all. A scalar is a word of a kernel's arguments or of a fill; it counts once, and only if it
is new: neither the case nor what went before has it, it is no small number (an index, a flag), and no copy from the
device gave it. Where more than DECISION_BYTES were copied from the device, what they gave counts too and no scalar may
be new: that much data is read to compute with it. Addresses never count, nor does what host code decides: the grids,
the kernels, and how often they run.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kernelvault.replay import bundle
from kernelvault.v1 import compiler_pb2, kernel_pb2, plan_pb2
from svc_compiler.recording.calls import Assembled
from svc_compiler.refusal import Refused, Verdict

UPLOAD_BYTES = 64
SCALAR_BYTES = 256
DECISION_BYTES = 1024
_SMALL = range(-1, 65)
_WORD_BYTES = 4
_POINTER_BYTES = 8
Layouts = Mapping[str, Sequence[plan_pb2.Image.ArgumentSlot]]


def check(
    call: Assembled, answers: Sequence[bytes], case: kernel_pb2.Case, layouts: Layouts, kernels: Sequence[str]
) -> None:
    """Raises Refused(REJECTED) where host code sends more to the device than decisions need.

    `layouts` are the arguments of `kernels`, which the launches count; `answers` is what `call.reads` gave.
    """
    if not call.reads or not answers:
        return
    before, after = call.operations[: call.reads[0].position], call.operations[call.reads[0].position :]
    uploaded = sum(map(_upload_bytes, after))
    read = sum(map(len, answers))
    if uploaded > UPLOAD_BYTES:
        raise _refused(
            f"host code reads {read} bytes from the device ({call.reads[0].what}) and then sends {uploaded} bytes to "
            f"it; at most {UPLOAD_BYTES} may follow a copy from the device. Compute in a kernel, and upload constants "
            "before the first copy from the device",
            case,
        )
    known = _Words(_of_case(case))
    known.add(itertools.chain.from_iterable(_scalars(operation, layouts, kernels) for operation in before))
    decides = read <= DECISION_BYTES
    if decides:
        known.add(itertools.chain.from_iterable(map(_of_answer, answers)))
    new = known.new_bytes(itertools.chain.from_iterable(_scalars(operation, layouts, kernels) for operation in after))
    if new > (SCALAR_BYTES if decides else 0):
        raise _refused(
            f"host code reads {read} bytes from the device ({call.reads[0].what}) and then hands kernels {new} bytes "
            f"of new scalars; it may hand on {SCALAR_BYTES}, and none where it reads more than {DECISION_BYTES} "
            "bytes. Compute in a kernel",
            case,
        )


class _Words:
    """Scalars that are known, by their bytes; whole numbers also by their value, whatever their width."""

    def __init__(self, words: Iterable[bytes]) -> None:
        self._bytes: set[bytes] = set()
        self._numbers = set(_SMALL)
        self.add(words)

    def add(self, words: Iterable[bytes]) -> None:
        """Makes words known."""
        for word in words:
            # A structure is looked at in pieces of four bytes.
            for part in (word, word[:_WORD_BYTES], word[_WORD_BYTES:]) if len(word) == 2 * _WORD_BYTES else (word,):
                self._bytes.add(part)
                self._numbers |= _numbers(part)

    def new_bytes(self, words: Iterable[bytes]) -> int:
        """The bytes of all words that are not known, each once."""
        return sum(len(word) for word in set(words) if not self._knows(word))

    def _knows(self, word: bytes) -> bool:
        if word in self._bytes or _numbers(word) & self._numbers:
            return True
        halves = (word[:_WORD_BYTES], word[_WORD_BYTES:]) if len(word) == 2 * _WORD_BYTES else ()
        return bool(halves) and all(map(self._knows, halves))


def _numbers(word: bytes) -> set[int]:
    return {int.from_bytes(word, "little", signed=signed) for signed in (False, True)}


def _of_case(case: kernel_pb2.Case) -> Iterator[bytes]:
    for parameter in (*case.parameters, *case.outputs):
        if parameter.HasField("tensor"):
            numbers = [*parameter.tensor.dims, *parameter.tensor.strides, bundle.element_count(parameter.tensor.dims)]
            yield from (struct.pack("<q", number) for number in numbers)
        elif parameter.HasField("float_value"):
            yield from _of_float(parameter.float_value)
        else:
            yield struct.pack("<q", parameter.int_value or parameter.bool_value)


def _of_float(value: float) -> Iterator[bytes]:
    yield struct.pack("<d", value)
    try:
        yield struct.pack("<f", value)
    except OverflowError:
        return


def _of_answer(answer: bytes) -> Iterator[bytes]:
    """What host code can take out of an answer as it stands; single-precision numbers also in double precision."""
    if len(answer) < _WORD_BYTES:
        yield answer
    for at in range(0, len(answer) - _WORD_BYTES + 1, _WORD_BYTES):
        word = answer[at : at + _WORD_BYTES]
        yield word
        yield from _of_float(struct.unpack("<f", word)[0])
    for at in range(0, len(answer) - 7, 8):
        yield answer[at : at + 8]


def _upload_bytes(operation: plan_pb2.Operation) -> int:
    upload = operation.upload
    return max(0, len(upload.data) - _POINTER_BYTES * len(upload.relocations)) if operation.HasField("upload") else 0


def _scalars(operation: plan_pb2.Operation, layouts: Layouts, kernels: Sequence[str]) -> Iterator[bytes]:
    """The words of an operation that are no addresses: whole arguments up to eight bytes, larger ones in pieces."""
    if operation.HasField("fill"):
        yield operation.fill.pattern
    if not operation.HasField("launch"):
        return
    launch = operation.launch
    pointers = {at for relocation in launch.relocations for at in range(relocation.at, relocation.at + _POINTER_BYTES)}
    for slot in layouts[kernels[launch.kernel]]:
        width = slot.size if slot.size <= 2 * _WORD_BYTES else _WORD_BYTES
        for at in range(slot.offset, slot.offset + slot.size, width) if not slot.hidden else ():
            if at not in pointers:
                yield launch.arguments[at : min(at + width, slot.offset + slot.size)]


def _refused(what: str, case: kernel_pb2.Case) -> Refused:
    finding = compiler_pb2.Finding(
        kind=compiler_pb2.Finding.FOREIGN_OPERATOR, message=f"a computation on the host: {what}", case_id=case.id
    )
    return Refused(Verdict.REJECTED, f"Not a kernel: {what}.", findings=[finding])
