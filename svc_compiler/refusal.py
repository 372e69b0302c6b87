"""How a stage says that a candidate ends here."""

from __future__ import annotations

from collections.abc import Iterable

from kernelvault.v1 import compiler_pb2

Verdict = compiler_pb2.VerificationReport.Verdict


class Refused(Exception):
    """A candidate's end: its verdict and why, for the report.

    A stage raises it for what the candidate did; a fault of the platform is an `errors.Error` instead.
    """

    def __init__(
        self,
        verdict: compiler_pb2.VerificationReport.Verdict,
        explanation: str,
        *,
        findings: Iterable[compiler_pb2.Finding] = (),
        diagnostics: Iterable[compiler_pb2.Diagnostic] = (),
    ) -> None:
        super().__init__(explanation)
        self.verdict = verdict
        self.explanation = explanation
        self.findings = list(findings)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        return f"{Verdict.Name(self.verdict)}: {self.explanation}"
