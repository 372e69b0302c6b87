"""Errors that cross the wire as google.rpc.Status.

Error
├── InvalidArgument     the request is malformed; names the field
├── Unauthenticated     nobody knows who calls
├── PermissionDenied    the caller is known and may not
├── NotFound
├── AlreadyExists
├── FailedPrecondition  the request is fine, the state it needs is not there
├── ResourceExhausted   a budget or a quota is spent
├── OutOfRange
├── DataLoss            stored bytes are not what they were
├── DeadlineExceeded
├── Unavailable         try again; says when
└── Internal            a fault of ours
"""

from __future__ import annotations

from typing import ClassVar

from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import Message
from google.rpc import code_pb2, error_details_pb2, status_pb2

DOMAIN = "kernelvault"


class Unfit(Exception):
    """This machine lacks what the service needs; the message says what, and what to do. Ends a start, never a call."""


class Error(Exception):
    """Base of the errors that a servicer raises on purpose and a client sees again.

    `reason` is a constant in UPPER_SNAKE_CASE for programs (google.aip.dev/193), the message is for people, `metadata`
    holds the values in it.
    """

    code: ClassVar[int] = code_pb2.UNKNOWN

    def __init__(self, reason: str, message: str, **metadata: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.metadata = metadata

    def details(self) -> list[Message]:
        """The typed details of the status."""
        return [error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata)]

    def to_status(self) -> status_pb2.Status:
        """The error as it crosses the wire."""
        status = status_pb2.Status(code=self.code, message=str(self))
        for detail in self.details():
            packed = any_pb2.Any()
            packed.Pack(detail)
            status.details.append(packed)
        return status


class InvalidArgument(Error):
    """`field` is the path of the offending field, for example `action.sources`."""

    code = code_pb2.INVALID_ARGUMENT

    def __init__(self, field: str, message: str, reason: str = "INVALID_FIELD", **metadata: str) -> None:
        super().__init__(reason, f"{field}: {message}" if field else message, **metadata)
        self.field = field

    def details(self) -> list[Message]:
        """Adds a BadRequest that names the field."""
        violation = error_details_pb2.BadRequest.FieldViolation(field=self.field, description=str(self))
        return [*super().details(), error_details_pb2.BadRequest(field_violations=[violation])]


class Unauthenticated(Error):
    code = code_pb2.UNAUTHENTICATED


class PermissionDenied(Error):
    code = code_pb2.PERMISSION_DENIED


class NotFound(Error):
    code = code_pb2.NOT_FOUND


class AlreadyExists(Error):
    code = code_pb2.ALREADY_EXISTS


class FailedPrecondition(Error):
    code = code_pb2.FAILED_PRECONDITION


class ResourceExhausted(Error):
    code = code_pb2.RESOURCE_EXHAUSTED


class OutOfRange(Error):
    code = code_pb2.OUT_OF_RANGE


class DataLoss(Error):
    code = code_pb2.DATA_LOSS


class DeadlineExceeded(Error):
    code = code_pb2.DEADLINE_EXCEEDED


class Internal(Error):
    code = code_pb2.INTERNAL


class Unavailable(Error):
    """`retry_after_s` is when to try again, in seconds."""

    code = code_pb2.UNAVAILABLE

    def __init__(self, reason: str, message: str, retry_after_s: float = 1.0, **metadata: str) -> None:
        super().__init__(reason, message, **metadata)
        self.retry_after_s = retry_after_s

    def details(self) -> list[Message]:
        """Adds a RetryInfo."""
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(int(self.retry_after_s * 1e9))
        return [*super().details(), error_details_pb2.RetryInfo(retry_delay=delay)]


_TYPES: dict[int, type[Error]] = {
    kind.code: kind
    for kind in (
        Unauthenticated,
        PermissionDenied,
        NotFound,
        AlreadyExists,
        FailedPrecondition,
        ResourceExhausted,
        OutOfRange,
        DataLoss,
        DeadlineExceeded,
        Internal,
    )
}


def from_status(status: status_pb2.Status) -> Error:
    """The error that a status was made of; a foreign status gives the nearest type with reason `FOREIGN`."""
    info, retry, bad = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        for message in (info, retry, bad):
            detail.Unpack(message)
    reason, metadata = info.reason or "FOREIGN", dict(info.metadata)
    if status.code == code_pb2.UNAVAILABLE:
        seconds = retry.retry_delay.ToNanoseconds() / 1e9 or 1.0
        return Unavailable(reason, status.message, seconds, **metadata)
    if status.code == code_pb2.INVALID_ARGUMENT:
        error = InvalidArgument("", status.message, reason, **metadata)
        error.field = bad.field_violations[0].field if bad.field_violations else ""
        return error
    return _TYPES.get(status.code, Error)(reason, status.message, **metadata)
