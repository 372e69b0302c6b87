"""The BlobStore and ActionCache services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from kernelvault import client, errors
from kernelvault.v1 import storage_pb2, storage_pb2_grpc
from svc_corpus.actions import Actions
from svc_corpus.vault import Vault

_MAX_DIGESTS = 10_000


class BlobStoreServicer(storage_pb2_grpc.BlobStoreServicer):
    """Errors of each call stand in storage.proto; every call may also raise UNAVAILABLE."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    async def FindMissingBlobs(
        self, request: storage_pb2.FindMissingBlobsRequest, context: Any
    ) -> storage_pb2.FindMissingBlobsResponse:
        if len(request.digests) > _MAX_DIGESTS:
            raise errors.InvalidArgument("digests", f"{len(request.digests)} are above the limit of {_MAX_DIGESTS}")
        return storage_pb2.FindMissingBlobsResponse(missing_digests=await self._vault.missing(request.digests))

    async def ReadBlob(
        self, request: storage_pb2.ReadBlobRequest, context: Any
    ) -> AsyncIterator[storage_pb2.ReadBlobResponse]:
        async for data in self._vault.read(request.digest, request.offset):
            yield storage_pb2.ReadBlobResponse(data=data)

    async def WriteBlob(
        self, request_iterator: AsyncIterator[storage_pb2.WriteBlobRequest], context: Any
    ) -> storage_pb2.WriteBlobResponse:
        requests = aiter(request_iterator)
        first = await anext(requests, None)
        if first is None or not first.HasField("digest"):
            raise errors.InvalidArgument("digest", "is missing; the first request has it")
        await self._vault.write(first.digest, _data(first, requests, context))
        return storage_pb2.WriteBlobResponse()


async def _data(
    first: storage_pb2.WriteBlobRequest, rest: AsyncIterator[storage_pb2.WriteBlobRequest], context: Any
) -> AsyncIterator[bytes]:
    yield first.data
    # The client sends the rest once it sees that the first was accepted.
    await context.send_initial_metadata(client.ACCEPTED)
    async for request in rest:
        if request.HasField("digest") and request.digest != first.digest:
            raise errors.InvalidArgument("digest", "differs from the first request's; one call writes one blob")
        yield request.data


class ActionCacheServicer(storage_pb2_grpc.ActionCacheServicer):
    """Errors of each call stand in storage.proto; every call may also raise UNAVAILABLE."""

    def __init__(self, actions: Actions) -> None:
        self._actions = actions

    async def GetActionResult(
        self, request: storage_pb2.GetActionResultRequest, context: Any
    ) -> storage_pb2.ActionResult:
        max_age = request.max_age.ToTimedelta() if request.HasField("max_age") else None
        return await self._actions.get(request.action_digest, max_age)

    async def UpdateActionResult(
        self, request: storage_pb2.UpdateActionResultRequest, context: Any
    ) -> storage_pb2.ActionResult:
        return await self._actions.update(request.action_result)
