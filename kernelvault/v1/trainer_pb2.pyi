from kernelvault.v1 import access_pb2 as _access_pb2
from kernelvault.v1 import compiler_pb2 as _compiler_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ComputeRewardsRequest(_message.Message):
    __slots__ = ("snapshot", "formula")
    class Formula(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        FORMULA_UNSPECIFIED: _ClassVar[ComputeRewardsRequest.Formula]
        CORRECT_SPEEDUP_COPY_PENALTY: _ClassVar[ComputeRewardsRequest.Formula]
        SOFT_CLIP_NOVELTY: _ClassVar[ComputeRewardsRequest.Formula]
        LEGACY: _ClassVar[ComputeRewardsRequest.Formula]
        TRITON_TURN: _ClassVar[ComputeRewardsRequest.Formula]
    FORMULA_UNSPECIFIED: ComputeRewardsRequest.Formula
    CORRECT_SPEEDUP_COPY_PENALTY: ComputeRewardsRequest.Formula
    SOFT_CLIP_NOVELTY: ComputeRewardsRequest.Formula
    LEGACY: ComputeRewardsRequest.Formula
    TRITON_TURN: ComputeRewardsRequest.Formula
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    FORMULA_FIELD_NUMBER: _ClassVar[int]
    snapshot: str
    formula: ComputeRewardsRequest.Formula
    def __init__(self, snapshot: _Optional[str] = ..., formula: _Optional[_Union[ComputeRewardsRequest.Formula, str]] = ...) -> None: ...

class ComputeRewardsResponse(_message.Message):
    __slots__ = ("sample", "reward", "skipped", "verdict", "speedup", "novelty")
    SAMPLE_FIELD_NUMBER: _ClassVar[int]
    REWARD_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    SPEEDUP_FIELD_NUMBER: _ClassVar[int]
    NOVELTY_FIELD_NUMBER: _ClassVar[int]
    sample: str
    reward: float
    skipped: bool
    verdict: _compiler_pb2.VerificationReport.Verdict
    speedup: float
    novelty: float
    def __init__(self, sample: _Optional[str] = ..., reward: _Optional[float] = ..., skipped: _Optional[bool] = ..., verdict: _Optional[_Union[_compiler_pb2.VerificationReport.Verdict, str]] = ..., speedup: _Optional[float] = ..., novelty: _Optional[float] = ...) -> None: ...
