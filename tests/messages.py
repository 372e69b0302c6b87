"""Small messages for tests: a task, a sample, a profile."""

from __future__ import annotations

from kernelvault import digest
from kernelvault.v1 import compiler_pb2, corpus_pb2, kernel_pb2, plan_pb2, profiler_pb2

Verdict = compiler_pb2.VerificationReport.Verdict
PASSED = compiler_pb2.VerificationReport.PASSED


def task(title: str = "softmax", *, reference: str = "class Model: ...\n") -> kernel_pb2.Task:
    """A complete task that nobody has stored."""
    return kernel_pb2.Task(
        title=title,
        reference=digest.artifact("model.py", reference.encode()),
        cases=[
            kernel_pb2.Case(id="small", kind=kernel_pb2.Case.CORRECTNESS, arguments_json='{"rows": 7}'),
            kernel_pb2.Case(id="large", kind=kernel_pb2.Case.PERFORMANCE, shrunk={"N": 64, "M": 32}),
        ],
        tolerance=kernel_pb2.Tolerance(absolute=1e-4, relative=1e-4),
        family=title,
        level=1,
    )


def sample(
    of: str,
    source: str,
    *,
    verdict: Verdict = PASSED,
    time_ns: float = 1000.0,
    run: str = "run",
    attempt: int = 1,
    parent: str = "",
    model: str = "models/rules",
    explanation: str = "",
) -> corpus_pb2.Sample:
    """A sample of the task named `of`; one that PASSED has a profile and a launch plan."""
    made = corpus_pb2.Sample(
        task=of,
        candidate=kernel_pb2.Candidate(
            language=kernel_pb2.Candidate.HIP,
            format=kernel_pb2.Candidate.HIP_ABI,
            sources=[digest.artifact("kernel.hip", source.encode())],
            generation=kernel_pb2.Candidate.Generation(model=model),
        ),
        report=compiler_pb2.VerificationReport(
            verdict=verdict, action_digest=digest.of_bytes(f"{of} {source}".encode()), explanation=explanation
        ),
        lineage=corpus_pb2.Lineage(run=run, attempt=attempt, parent=parent),
    )
    if verdict == PASSED:
        launch = plan_pb2.Launch(kernel=0, grid=plan_pb2.Extent(x=1, y=1, z=1), arguments=b"\0" * 64)
        made.report.plans.add(case_id="small", operations=[plan_pb2.Operation(launch=launch)])
        made.profile.CopyFrom(profiler_pb2.Profile(device="MI300X", method_label="cpu-model", time_ns=time_ns))
    else:
        made.report.fault_owner = compiler_pb2.VerificationReport.CANDIDATE
    return made
