"""The action cache: results by the digest of what they depend on, as S3 objects."""

from __future__ import annotations

import datetime
import time

from kernelvault import digest, errors
from kernelvault.v1 import compiler_pb2, storage_pb2
from kernelvault.v1.artifact_pb2 import Digest
from svc_corpus import s3

_REPORT = compiler_pb2.VerificationReport
_NEVER_CACHED = (_REPORT.VERDICT_UNSPECIFIED, _REPORT.TIMED_OUT, _REPORT.CRASHED)
_SCRIPT = compiler_pb2.ScriptReport
_NEVER_CACHED_STATUSES = (_SCRIPT.STATUS_UNSPECIFIED, _SCRIPT.STALLED, _SCRIPT.CRASHED)


class Actions:
    """Remembers the newest result of each action. Results name their blobs; none is inside."""

    def __init__(self, store: s3.ObjectStore) -> None:
        self._store = store

    async def get(self, action: Digest, max_age: datetime.timedelta | None) -> storage_pb2.ActionResult:
        """The result of an action; raises errors.NotFound where there is none that is young enough."""
        digest.check(action, "action_digest")
        data = await self._store.get(_key(action))
        if data is None:
            raise errors.NotFound("RESULT_UNKNOWN", f"there is no result of action {action.hash}")
        result = storage_pb2.ActionResult.FromString(data)
        age_ns = time.time_ns() - result.create_time.ToNanoseconds()
        if max_age is not None and age_ns > max_age / datetime.timedelta(microseconds=1) * 1000:
            raise errors.NotFound("RESULT_TOO_OLD", f"the result of action {action.hash} is {age_ns // 10**9} s old")
        return result

    async def update(self, given: storage_pb2.ActionResult) -> storage_pb2.ActionResult:
        """Stores a result in place of an older one; raises errors.InvalidArgument for one that is never cached."""
        result = storage_pb2.ActionResult()
        result.CopyFrom(given)
        _check(result)
        result.create_time.FromNanoseconds(time.time_ns())
        data = result.SerializeToString()
        await self._store.put(_key(result.action_digest), data, len(data))
        return result


def _check(result: storage_pb2.ActionResult) -> None:
    digest.check(result.action_digest, "action_result.action_digest")
    kind = result.WhichOneof("result")
    if kind is None:
        raise errors.InvalidArgument("action_result", "holds no report and no profile")
    if kind == "profile":
        if result.profile.verify_action_digest == result.action_digest:
            message = "is the verification's; a profile is stored under the digest of its own action"
            raise errors.InvalidArgument("action_result.action_digest", message)
        return
    if kind == "script_report":
        _check_script(result)
        return
    report = result.report
    if report.verdict in _NEVER_CACHED or report.fault_owner == _REPORT.PLATFORM:
        owner = _REPORT.FaultOwner.Name(report.fault_owner)
        message = f"{_REPORT.Verdict.Name(report.verdict)} with fault owner {owner} is never cached"
        raise errors.InvalidArgument("action_result.report.verdict", message, "NEVER_CACHED")
    if report.HasField("action_digest") and report.action_digest != result.action_digest:
        raise errors.InvalidArgument("action_result.report.action_digest", "differs from the result's")


def _check_script(result: storage_pb2.ActionResult) -> None:
    report = result.script_report
    for name in ("compiled", "interpreted", "memory_clean"):
        status = getattr(report, name).status
        if status in _NEVER_CACHED_STATUSES:
            message = f"{_SCRIPT.Status.Name(status)} is never cached"
            raise errors.InvalidArgument(f"action_result.script_report.{name}.status", message, "NEVER_CACHED")
    if report.action_digest != result.action_digest:
        raise errors.InvalidArgument("action_result.script_report.action_digest", "differs from the result's")


def _key(action: Digest) -> str:
    return f"actions/{action.hash[:2]}/{action.hash}-{action.size_bytes}"
