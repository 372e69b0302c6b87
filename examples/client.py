"""Verifies a kernel from Python: what another team's program looks like. usage: python examples/client.py"""

import asyncio
from pathlib import Path

from kernelvault import Client, digest
from kernelvault.v1.compiler_pb2 import VerificationReport, VerifyAction
from kernelvault.v1.kernel_pb2 import Candidate, Task

HERE = Path(__file__).parent


async def main() -> None:
    """Prints the verdict on examples/add.hip."""
    async with Client() as client:
        task = Task(title="add", reference=digest.artifact("add.py", (HERE / "add.py").read_bytes()))
        task = await client.create_task((await client.prepare_task(task)).task)
        source = digest.artifact("add.hip", (HERE / "add.hip").read_bytes())
        action = VerifyAction(
            language=Candidate.HIP, format=Candidate.HIP_ABI, sources=[source], task=task.name, targets=["gfx942"]
        )
        report = await client.verify(action, on_stage=print)
        print(VerificationReport.Verdict.Name(report.verdict), report.explanation)


if __name__ == "__main__":
    asyncio.run(main())
