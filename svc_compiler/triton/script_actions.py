"""Scripts as work: checked, completed and named."""

from __future__ import annotations

import dataclasses

from kernelvault import digest, errors
from kernelvault.v1 import artifact_pb2, compiler_pb2
from svc_compiler import actions

MAX_CONFIGURATIONS = 24
_DEFAULT_CONFIGURATIONS = 4


@dataclasses.dataclass(frozen=True)
class ScriptWork:
    """A checked action with the digest that names its report."""

    action: compiler_pb2.ScriptAction
    digest: artifact_pb2.Digest
    # Earlier results are not looked at.
    fresh: bool = False

    @property
    def timeout_s(self) -> float:
        """The bound on the CPU time of each step, in seconds."""
        return float(self.action.timeout.ToNanoseconds()) / 1e9


async def complete(
    given: compiler_pb2.ScriptAction, *, fetch: actions.Fetch, default_timeout_s: float, max_timeout_s: float
) -> compiler_pb2.ScriptAction:
    """Checks an action and fills in its defaults; raises InvalidArgument naming the field."""
    action = compiler_pb2.ScriptAction()
    action.CopyFrom(given)
    del action.sources[:]
    action.sources.extend(await actions.complete_sources(given.sources, fetch))
    _complete_main(action)
    actions.complete_targets(action)
    actions.complete_timeout(action, default_timeout_s, max_timeout_s)
    action.max_configurations = action.max_configurations or _DEFAULT_CONFIGURATIONS
    if not 0 < action.max_configurations <= MAX_CONFIGURATIONS:
        raise errors.InvalidArgument(
            "action.max_configurations", f"{action.max_configurations} is outside 1 to {MAX_CONFIGURATIONS}"
        )
    return action


def _complete_main(action: compiler_pb2.ScriptAction) -> None:
    paths = [source.path for source in action.sources if source.path.endswith(".py")]
    if action.main:
        if action.main not in paths:
            raise errors.InvalidArgument("action.main", f"{action.main[:80]!r} is none of the sources {paths[:4]}")
    elif len(paths) == 1:
        action.main = paths[0]
    elif paths:
        raise errors.InvalidArgument("action.main", "is empty; say which of the Python sources is run")
    else:
        raise errors.InvalidArgument("action.sources", "none is a Python source; name one *.py")


def work_of(action: compiler_pb2.ScriptAction, *, identity: str, fresh: bool = False) -> ScriptWork:
    """The work for a complete action. `identity` names the tool chain and the code that judges."""
    name = digest.of_fields(["script", action.SerializeToString(deterministic=True), identity])
    return ScriptWork(action, artifact_pb2.Digest(hash=name, size_bytes=action.ByteSize()), fresh)
