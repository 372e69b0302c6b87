"""What the corpus takes: samples a second into one server, and reads back. usage: python benchmarks/corpus.py [SAMPLES]

Starts a SeaweedFS and a corpus of its own on the loopback interface; prints one line a measurement.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelvault import client
from kernelvault.v1 import corpus_pb2
from tests import messages
from tests.corpus import Corpus
from tests.s3 import S3Server
from tests.services import Service

_CALLERS = 64
_SOURCE_BYTES = 4000


async def timed(what: str, work: Awaitable[Any], count: int = 1) -> Any:
    """Awaits `work` and prints how long it took, and how many of `count` a second."""
    started = time.perf_counter()
    result = await work
    seconds = time.perf_counter() - started
    print(f"{what:<40} {seconds * 1000:9.1f} ms {count / seconds:9.0f} /s")
    return result


async def create(corpus: Corpus, task: str, count: int) -> None:
    """Stores samples with launch plans by `_CALLERS` concurrent callers."""
    names = iter(range(count))
    words = [f"word{index}" for index in range(2000)]

    async def one_caller() -> None:
        for name in names:
            source = f"// {name}\n" + " ".join(random.choices(words, k=_SOURCE_BYTES // 8))
            request = corpus_pb2.CreateSampleRequest(sample=messages.sample(task, source))
            await corpus.call("CreateSample", request, timeout_s=600)

    await asyncio.gather(*(one_caller() for _ in range(_CALLERS)))


async def measure(corpus: Corpus, count: int) -> None:
    """All measurements."""
    task = (await corpus.task("bench")).name
    await timed("first sample", corpus.sample(task, "first"))
    await timed(f"create {count} samples, {_CALLERS} callers", create(corpus, task, count), count)
    page = await timed("list 50", corpus.call("ListSamples", corpus_pb2.ListSamplesRequest(page_size=50)))
    await timed("get", corpus.call("GetSample", corpus_pb2.GetSampleRequest(name=page.samples[0].name)))
    await timed("search", corpus.all("SearchSamples", corpus_pb2.SearchSamplesRequest(query="word7 word11")))
    await timed("stats", corpus.call("GetStats", corpus_pb2.GetStatsRequest()))
    request = corpus_pb2.CreateSnapshotRequest(snapshot_id="all")
    snapshot = await timed("create snapshot", corpus.call("CreateSnapshot", request))
    read = corpus.all("ReadSnapshot", corpus_pb2.ReadSnapshotRequest(name=snapshot.name))
    await timed("read snapshot", read, snapshot.sample_count)


def print_memory(pid: int) -> None:
    """The most memory that a process has held."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    print(next(line for line in status.splitlines() if line.startswith("VmHWM")))


async def main() -> None:
    """Runs the measurements over servers of its own."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        s3 = S3Server(Path(folder))
        s3.start()
        try:
            with Service("svc_corpus", s3.environment(maintenance_seconds="2", log_level="warning")) as service:
                async with client.channel(service.address) as channel:
                    await measure(Corpus(channel), count)
                print_memory(service.process.pid)
                print(service.log(), end="")
        finally:
            s3.stop()


if __name__ == "__main__":
    asyncio.run(main())
