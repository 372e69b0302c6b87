"""Recording with execution: what host code copies from the device comes from a replay of all that it did before.

The host code is gone by then: kernels run on the true inputs in a child of their own, as in every replay, and the next
process of the host code gets the copied bytes and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from kernelvault.replay import bundle
from kernelvault.replay.cpu_model import Replay
from kernelvault.replay.models import Model
from kernelvault.sandbox import memory
from kernelvault.sandbox.metering import stage
from kernelvault.v1 import compiler_pb2, plan_pb2
from svc_compiler.refusal import Refused

Finding = compiler_pb2.Finding
Report = compiler_pb2.VerificationReport
# With other values each time in memory that nobody wrote: host code must not act on these.
_REPETITIONS = 2
_LEAST_S = 0.2


class Execution:
    """Answers the reads of device data of one case.

    `inputs` gives the file of the case's true inputs. `timeout_s` bounds all replays together.
    """

    def __init__(self, model: Model, inputs: Callable[[], Awaitable[Path]], timeout_s: float) -> None:
        self._model, self._inputs = model, inputs
        self._left_s = timeout_s

    async def answer(self, plan: plan_pb2.LaunchPlan, image: Path) -> bytes:
        """The bytes of the only result of a plan with images; raises Refused where the replay is at fault."""
        inputs = await self._inputs()
        with stage("replay"):
            replay = await self._model.replay(
                plan, image, inputs, repetitions=_REPETITIONS, vary_memory=True, timeout_s=self._left_s
            )
        self._left_s = max(_LEAST_S, self._left_s - replay.outcome.cpu_seconds)
        try:
            return _answer(plan, replay)
        finally:
            replay.close()


def _answer(plan: plan_pb2.LaunchPlan, replay: Replay) -> bytes:
    for finding in replay.findings:
        finding.case_id = plan.case_id
    if replay.fault is not None:
        verdict, explanation = replay.fault
        raise Refused(verdict, f"Case {plan.case_id}: {explanation}", findings=replay.findings)
    answers = {_only_result(descriptor) for descriptor in replay.outputs}
    if len(answers) > 1:
        what = f"{plan.limitations[-1]} that no kernel wrote"
        finding = Finding(kind=Finding.UNINITIALIZED_READ, message=what, case_id=plan.case_id)
        raise Refused(Report.UNSAFE, f"Case {plan.case_id}: {what}.", findings=[finding])
    return answers.pop()


def _only_result(descriptor: int) -> bytes:
    [item] = bundle.read(memory.collect(descriptor))
    return bytes(item.storage or b"")
