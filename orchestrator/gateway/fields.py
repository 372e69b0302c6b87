"""The seed system's request fields. What is not listed here is passed over, as the seed system does."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from kernelvault import errors

_MIB = 1 << 20
Source = Annotated[str, Field(min_length=1, max_length=_MIB)]
OptionalSource = Annotated[str | None, Field(max_length=_MIB)]
Tolerance = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float | None, Field(gt=0, allow_inf_nan=False)]


class Malformed(Exception):
    """A body that is refused; `detail` says where and why, in the seed system's form (FastAPI's)."""

    def __init__(self, detail: list[dict[str, Any]], status: int = 422) -> None:
        super().__init__(detail[0]["msg"])
        self.detail = detail
        self.status = status


class RunCode(BaseModel):
    """A HIP kernel, the module that says what is right, and maybe the kernel that it is compared with."""

    kernel_name: Annotated[str, Field(min_length=1, max_length=512)]
    hip_code: Source
    hip_ref_code: OptionalSource = None
    pytorch_module_code: Source
    pytorch_functional_code: OptionalSource = None
    atol: Tolerance = 1e-4
    rtol: Tolerance = 1e-4
    compile_timeout_s: Seconds = None
    run_timeout_s: Seconds = None


class Evaluate(BaseModel):
    """A Triton module, and the name of the file that says what is right."""

    protocol_version: Literal[1]
    code: Source
    filename: Annotated[str, Field(min_length=1, max_length=1024)]
    atol: Tolerance = 1e-3
    rtol: Tolerance = 1e-4


ONE = TypeAdapter(RunCode)
BATCH = TypeAdapter(list[RunCode])
EVALUATE = TypeAdapter(Evaluate)


def read(kind: TypeAdapter[Any], body: bytes) -> Any:
    """The request in a body; raises Malformed with every field that is wrong."""
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        broken = any(one["type"] == "json_invalid" for one in found)
        raise Malformed([{**one, "loc": ["body", *one["loc"]]} for one in found], 400 if broken else 422) from None


def malformed(location: list[str | int], message: str, kind: str = "value_error") -> Malformed:
    """What is wrong with one field."""
    return Malformed([{"loc": ["body", *location], "msg": message, "type": kind}])


# Where a fault that the services found lies in a request: by the field that they name, or by their reason.
_FIELDS = (
    ("task.reference", "reference"),
    ("task.functional", "functional"),
    ("task.tolerance", "atol"),
    ("task.title", "name"),
    ("action.timeout", "timeout"),
    ("action.sources", "code"),
    ("action.language", "code"),
    ("action.format", "code"),
)
_REASONS = {"REFERENCE_UNFIT": "reference", "NOT_EQUIVALENT": "functional", "NOT_TRACEABLE": "functional"}
NAMES = {
    RunCode: {
        "reference": "pytorch_module_code",
        "functional": "pytorch_functional_code",
        "name": "kernel_name",
        "timeout": "run_timeout_s",
        "code": "hip_code",
    },
    Evaluate: {"reference": "filename", "functional": "filename", "name": "filename", "code": "code"},
}


def blamed(error: errors.Error, request: RunCode | Evaluate, location: list[str | int]) -> Malformed | None:
    """The request's fault in a service's error; None: it is the platform's, or the caller's."""
    part = None
    if isinstance(error, errors.InvalidArgument):
        part = next((part for start, part in _FIELDS if error.field.startswith(start)), None)
    elif isinstance(error, errors.FailedPrecondition):
        part = _REASONS.get(error.reason)
    if part is None:
        return None
    return malformed([*location, NAMES[type(request)].get(part, part)], str(error), error.reason.lower())
