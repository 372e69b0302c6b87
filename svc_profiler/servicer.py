"""The Profiler service on gRPC."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from kernelvault import devices, digest, errors, staged
from kernelvault.v1 import profiler_pb2, profiler_pb2_grpc
from svc_profiler.profiling import Ask, Profiler

Request = profiler_pb2.ProfileCandidateRequest
Update = profiler_pb2.ProfileCandidateResponse


class ProfilerServicer(profiler_pb2_grpc.ProfilerServicer):
    """Checks requests and streams what the profiler does."""

    def __init__(self, profiler: Profiler) -> None:
        self._profiler = profiler

    async def ProfileCandidate(
        self, request: profiler_pb2.ProfileCandidateRequest, context: Any
    ) -> AsyncIterator[profiler_pb2.ProfileCandidateResponse]:
        """See profiler.proto."""
        ask = _ask(request)
        stream = staged.updates(
            lambda progress: self._profiler.profile(ask, progress),
            stage=lambda stage: Update(stage=stage),
            result=lambda profile: Update(profile=profile),
        )
        async with contextlib.aclosing(stream) as updates:
            async for update in updates:
                yield update


def _ask(request: profiler_pb2.ProfileCandidateRequest) -> Ask:
    if request.method == Request.TIMING:
        raise errors.InvalidArgument("method", "TIMING needs a GPU, which this server has not; ask for MODEL")
    return Ask(
        verify_digest=digest.check(request.verify_action_digest, "verify_action_digest"),
        gpu=devices.of(request.device),
        max_age=request.max_age if request.HasField("max_age") else None,
    )
