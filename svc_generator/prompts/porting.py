"""A kernel from elsewhere as a model reads it, and what changes on the way to CDNA."""

from __future__ import annotations

from importlib import resources

from kernelvault import errors
from kernelvault.v1.kernel_pb2 import Candidate, SeedKernel
from svc_generator.prompts.markdown import fence, section

_NAMES = {SeedKernel.CUDA: "CUDA", SeedKernel.HIP: "HIP", SeedKernel.TRITON: "Triton"}
_LANGUAGES = {Candidate.HIP: "HIP", Candidate.TRITON: "Triton"}


def render(seed: SeedKernel, language: Candidate.Language, room_chars: int) -> str:
    """The seed's sources and how to port them; a port of half a kernel is none, so nothing is clipped.

    Raises errors.InvalidArgument where it takes more than `room_chars`.
    """
    origin, wanted = _NAMES[seed.dialect], _LANGUAGES[language]
    told = f"This kernel computes the same or nearly the same. {_ask(origin, wanted)}"
    sources = "\n\n".join(fence(source.contents.decode(errors="replace"), _tag(source.path)) for source in seed.sources)
    text = section(f"A kernel in {origin} to start from", f"{told}\n\n{sources}\n\n{_notes(origin, wanted)}")
    if len(text) > room_chars:
        raise errors.InvalidArgument(
            "seed_kernel.sources",
            f"{len(text)} characters of the seed kernel do not fit the {room_chars} that the prompt has left; send "
            "only the kernel and what calls it, or raise KERNELVAULT_OPENAI_PROMPT_TOKENS",
        )
    return text


def _ask(origin: str, wanted: str) -> str:
    if origin == wanted:
        return f"Make a {wanted} kernel of it that is right for all cases and fast on this GPU."
    return f"Port it to {wanted} for this GPU: keep its idea, and replace what is made for other hardware."


def _notes(origin: str, wanted: str) -> str:
    name = f"port_{origin}_to_{wanted}.md".lower()
    own = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    common = resources.files(__package__).joinpath("port.md").read_text(encoding="utf-8")
    return f"{own.strip()}\n{common.strip()}"


def _tag(path: str) -> str:
    return "python" if path.endswith(".py") else "cpp"
