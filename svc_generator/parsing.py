"""Reads a kernel's source out of a model's answer, however it is wrapped."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator

from kernelvault.v1.kernel_pb2 import Candidate

MAX_ANSWER_CHARS = 4 << 20
_MAX_RATIONALE_CHARS = 4000
_MAX_PROSE_CHARS = 16_000
_MAX_JSON_STARTS = 20
_CODE_KEYS = ("code", "source", "kernel", "answer")
_THOUGHT_KEYS = ("thought", "thoughts", "rationale", "explanation", "reasoning")

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$")
_JSON_START = re.compile(r'\{\s*"(?:' + "|".join((*_CODE_KEYS, *_THOUGHT_KEYS)) + r')"\s*:')
_LAUNCHER = re.compile(r'extern\s+"C"')
_FIRST_CODE_LINE = re.compile(
    r"^(?:#\s*(?:include|define|pragma)\b|import \w|from \w[\w.]* import |template\s*<|__global__|@triton)", re.M
)
_JIT = re.compile(r"^@(?:triton\.)?(?:jit|autotune|heuristics)\b", re.M)
_MODULE_FN = re.compile(r"^(?:def module_fn\b|module_fn\s*[:=]|from [\w.]+ import .*\bmodule_fn\b)", re.M)
_MODULE_CLASS = "ModelNew"
_EXPORTED_CLASS = re.compile(rf"^class {_MODULE_CLASS}\b", re.M)
_TAGS = {
    Candidate.HIP: {"hip", "cpp", "c++", "cuda", "cu", "c", "hip-cpp", "cc"},
    Candidate.TRITON: {"python", "py", "python3", "triton"},
}
_FORMAT_LANGUAGES = {
    Candidate.HIP_ABI: Candidate.HIP,
    Candidate.HIP_TORCH: Candidate.HIP,
    Candidate.TRITON_MODULE: Candidate.TRITON,
}


class Unreadable(Exception):
    """The answer holds no source; the message says what was found instead, for the model to read."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """A kernel's source as it was found, and what the author says of it."""

    source: str
    format: Candidate.Format
    rationale: str
    # Empty: the format's default.
    entry_point: str = ""


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block; `tag` is the word after the fence."""

    tag: str
    text: str


def read_kernel(text: str, asked: Candidate.Format) -> Answer:
    """The kernel in an answer; its format is `asked` or the other one of the same language. Raises Unreadable."""
    text = strip_thoughts(text[:MAX_ANSWER_CHARS])
    language = _FORMAT_LANGUAGES[asked]
    found = [
        (_score(block, asked), block.text, thought or _prose(body))
        for thought, body in [*_json_answers(text), ("", text)]
        for block in _candidates(body, language)
    ]
    score, source, rationale = max(found, key=lambda one: one[0], default=(0, "", ""))
    if score <= 0:
        raise Unreadable(_describe(text, language))
    entry_point = _MODULE_CLASS if language == Candidate.TRITON and not _MODULE_FN.search(source) else ""
    rationale = rationale.strip()[:_MAX_RATIONALE_CHARS]
    return Answer(_end_line(source), detect_format(source, asked), rationale, entry_point)


def read_python(text: str, *, needs: str) -> str:
    """The Python module in an answer that defines `needs`; raises Unreadable."""
    text = strip_thoughts(text[:MAX_ANSWER_CHARS])
    found = []
    for _, body in [*_json_answers(text), ("", text)]:
        blocks = [block.text for block in fenced(body)] or [body[match.start() :] for match in _first(body)]
        found = [block for block in blocks if needs in block]
        if found:
            break
    if not found:
        raise Unreadable(f"the answer holds no Python module that defines `{needs}`")
    return _end_line(found[-1])


def read_prose(text: str) -> str:
    """What an answer says, without its hidden thoughts; raises Unreadable where it says nothing."""
    text = text[:MAX_ANSWER_CHARS]
    still_thinking = text.lstrip().startswith("<think>") and "</think>" not in text
    prose = strip_thoughts(text).strip()
    if not prose or still_thinking:
        raise Unreadable("the answer says nothing" + " besides its thoughts" * still_thinking)
    return prose[:_MAX_PROSE_CHARS]


def strip_thoughts(text: str) -> str:
    """The answer without what stands between `<think>` and `</think>`; either tag may be missing."""
    head, closed, rest = text.rpartition("</think>")
    if closed:
        return rest if rest.strip() else head
    return re.sub(r"^\s*<think>", "", text)


def fenced(text: str) -> list[Block]:
    """The fenced blocks of a Markdown text in order; one that is never closed goes to the end."""
    blocks: list[Block] = []
    lines: list[str] = []
    fence = tag = ""
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if not fence and match:
            fence, tag, lines = match[1], match[2].strip().lower(), []
        elif fence and match and match[1].startswith(fence) and not match[2].strip():
            blocks.append(Block(tag, "\n".join(lines)))
            fence = ""
        elif fence:
            lines.append(line)
    if fence and any(line.strip() for line in lines):
        blocks.append(Block(tag, "\n".join(lines)))
    return blocks


def detect_format(source: str, asked: Candidate.Format) -> Candidate.Format:
    """The format that a source really has; `asked` where nothing says otherwise."""
    if "PYBIND11_MODULE" in source:
        return Candidate.HIP_TORCH
    if _LAUNCHER.search(source):
        return Candidate.HIP_ABI
    return asked


def _candidates(text: str, language: Candidate.Language) -> Iterator[Block]:
    """What may be the source, the likeliest first: the last block, all blocks of the language together, bare text."""
    blocks = fenced(text)
    yield from reversed(blocks)
    ours = [block.text for block in blocks if _word(block.tag) in _TAGS[language]]
    if len(ours) > 1:
        yield Block(next(iter(_TAGS[language])), "\n".join(ours))
    if not blocks:
        for match in _first(text):
            yield Block("", text[match.start() :])


def _first(text: str) -> list[re.Match[str]]:
    match = _FIRST_CODE_LINE.search(text)
    return [match] if match else []


def _score(block: Block, asked: Candidate.Format) -> int:
    """How much a block looks like a whole source of the language; 0 if it is none."""
    text, language = block.text, _FORMAT_LANGUAGES[asked]
    if language == Candidate.TRITON:
        # Who calls the kernels cannot be guessed: without it there is no candidate.
        needed = _exports(text)
        marks = [bool(_JIT.search(text)), "import triton" in text, needed]
    else:
        launcher = bool(_LAUNCHER.search(text)), "PYBIND11_MODULE" in text
        marks = ["__global__" in text, "#include" in text, any(launcher), launcher[asked == Candidate.HIP_TORCH]]
        needed = marks[0] or marks[2]
    if not needed:
        return 0
    return 2 * sum(marks) + (_word(block.tag) in _TAGS[language])


def _exports(text: str) -> bool:
    """Whether a Python text defines what is called of a Triton module."""
    return bool(_MODULE_FN.search(text) or _EXPORTED_CLASS.search(text))


def _word(tag: str) -> str:
    return tag.partition(" ")[0].strip("{}.")


def _json_answers(text: str) -> Iterator[tuple[str, str]]:
    """The thoughts and the codes of JSON answers in a text, the code as a text of its own with a fence."""
    for candidate in _json_texts(text):
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        if not isinstance(value, dict):
            continue
        lowered = {str(key).lower(): item for key, item in value.items() if isinstance(item, str)}
        code = next((lowered[key] for key in _CODE_KEYS if lowered.get(key)), "")
        if code:
            thought = next((lowered[key] for key in _THOUGHT_KEYS if key in lowered), "")
            yield thought, code if fenced(code) else f"~~~~~~~~~\n{code}\n~~~~~~~~~"


def _json_texts(text: str) -> Iterator[str]:
    if text.lstrip().startswith("{"):
        yield text.lstrip()
    yield from (block.text.lstrip() for block in fenced(text) if block.tag in ("json", "") and "{" in block.text[:20])
    for count, match in enumerate(_JSON_START.finditer(text)):
        if count >= _MAX_JSON_STARTS:
            return
        yield text[match.start() :]


def _prose(text: str) -> str:
    """What stands outside the fences."""
    kept, fence = [], ""
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            fence = ""
        elif not fence:
            kept.append(line)
    return "\n".join(kept)


def _describe(text: str, language: Candidate.Language) -> str:
    hip = language == Candidate.HIP
    wanted = "HIP source with a `__global__` kernel" if hip else "Triton module that defines `module_fn`"
    if not text.strip():
        return f"the answer is empty; a {wanted} in one fenced block was expected"
    count = len(fenced(text))
    if not hip and _JIT.search(text) and not _exports(text):
        return "the answer has kernels and defines neither `module_fn` nor `ModelNew`: add the function that calls them"
    found = f"{count} fenced block{'s' * (count != 1)}" if count else "no fenced block"
    return f"the answer holds {found} and no {wanted}; put the whole source into one fenced block"


def _end_line(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip() + "\n"
