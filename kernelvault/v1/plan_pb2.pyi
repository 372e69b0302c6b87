from kernelvault.v1 import artifact_pb2 as _artifact_pb2
from kernelvault.v1 import kernel_pb2 as _kernel_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LaunchPlan(_message.Message):
    __slots__ = ("case_id", "buffers", "kernels", "operations", "results", "assumed_properties", "data_dependent", "limitations", "returns_sequence", "unawaited")
    CASE_ID_FIELD_NUMBER: _ClassVar[int]
    BUFFERS_FIELD_NUMBER: _ClassVar[int]
    KERNELS_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    ASSUMED_PROPERTIES_FIELD_NUMBER: _ClassVar[int]
    DATA_DEPENDENT_FIELD_NUMBER: _ClassVar[int]
    LIMITATIONS_FIELD_NUMBER: _ClassVar[int]
    RETURNS_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    UNAWAITED_FIELD_NUMBER: _ClassVar[int]
    case_id: str
    buffers: _containers.RepeatedCompositeFieldContainer[Buffer]
    kernels: _containers.RepeatedCompositeFieldContainer[Kernel]
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    results: _containers.RepeatedCompositeFieldContainer[Result]
    assumed_properties: _containers.RepeatedCompositeFieldContainer[DeviceProperty]
    data_dependent: bool
    limitations: _containers.RepeatedScalarFieldContainer[str]
    returns_sequence: bool
    unawaited: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, case_id: _Optional[str] = ..., buffers: _Optional[_Iterable[_Union[Buffer, _Mapping]]] = ..., kernels: _Optional[_Iterable[_Union[Kernel, _Mapping]]] = ..., operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., results: _Optional[_Iterable[_Union[Result, _Mapping]]] = ..., assumed_properties: _Optional[_Iterable[_Union[DeviceProperty, _Mapping]]] = ..., data_dependent: _Optional[bool] = ..., limitations: _Optional[_Iterable[str]] = ..., returns_sequence: _Optional[bool] = ..., unawaited: _Optional[_Iterable[int]] = ...) -> None: ...

class Buffer(_message.Message):
    __slots__ = ("size_bytes", "role", "position", "name")
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ROLE_UNSPECIFIED: _ClassVar[Buffer.Role]
        INPUT: _ClassVar[Buffer.Role]
        OUTPUT: _ClassVar[Buffer.Role]
        SCRATCH: _ClassVar[Buffer.Role]
    ROLE_UNSPECIFIED: Buffer.Role
    INPUT: Buffer.Role
    OUTPUT: Buffer.Role
    SCRATCH: Buffer.Role
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    size_bytes: int
    role: Buffer.Role
    position: int
    name: str
    def __init__(self, size_bytes: _Optional[int] = ..., role: _Optional[_Union[Buffer.Role, str]] = ..., position: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class Result(_message.Message):
    __slots__ = ("buffer", "view", "variable")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    VIEW_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    view: _kernel_pb2.TensorView
    variable: str
    def __init__(self, buffer: _Optional[int] = ..., view: _Optional[_Union[_kernel_pb2.TensorView, _Mapping]] = ..., variable: _Optional[str] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("phase", "launch", "copy", "fill", "upload", "convert", "concurrent_with")
    class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        PHASE_UNSPECIFIED: _ClassVar[Operation.Phase]
        INIT: _ClassVar[Operation.Phase]
        CALL: _ClassVar[Operation.Phase]
    PHASE_UNSPECIFIED: Operation.Phase
    INIT: Operation.Phase
    CALL: Operation.Phase
    PHASE_FIELD_NUMBER: _ClassVar[int]
    LAUNCH_FIELD_NUMBER: _ClassVar[int]
    COPY_FIELD_NUMBER: _ClassVar[int]
    FILL_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_FIELD_NUMBER: _ClassVar[int]
    CONVERT_FIELD_NUMBER: _ClassVar[int]
    CONCURRENT_WITH_FIELD_NUMBER: _ClassVar[int]
    phase: Operation.Phase
    launch: Launch
    copy: Copy
    fill: Fill
    upload: Upload
    convert: Convert
    concurrent_with: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, phase: _Optional[_Union[Operation.Phase, str]] = ..., launch: _Optional[_Union[Launch, _Mapping]] = ..., copy: _Optional[_Union[Copy, _Mapping]] = ..., fill: _Optional[_Union[Fill, _Mapping]] = ..., upload: _Optional[_Union[Upload, _Mapping]] = ..., convert: _Optional[_Union[Convert, _Mapping]] = ..., concurrent_with: _Optional[_Iterable[int]] = ...) -> None: ...

class Launch(_message.Message):
    __slots__ = ("kernel", "grid", "block", "dynamic_lds_bytes", "arguments", "relocations", "alternatives")
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    GRID_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    DYNAMIC_LDS_BYTES_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    RELOCATIONS_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    kernel: int
    grid: Extent
    block: Extent
    dynamic_lds_bytes: int
    arguments: bytes
    relocations: _containers.RepeatedCompositeFieldContainer[Relocation]
    alternatives: _containers.RepeatedCompositeFieldContainer[Launch]
    def __init__(self, kernel: _Optional[int] = ..., grid: _Optional[_Union[Extent, _Mapping]] = ..., block: _Optional[_Union[Extent, _Mapping]] = ..., dynamic_lds_bytes: _Optional[int] = ..., arguments: _Optional[bytes] = ..., relocations: _Optional[_Iterable[_Union[Relocation, _Mapping]]] = ..., alternatives: _Optional[_Iterable[_Union[Launch, _Mapping]]] = ...) -> None: ...

class Extent(_message.Message):
    __slots__ = ("x", "y", "z")
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    Z_FIELD_NUMBER: _ClassVar[int]
    x: int
    y: int
    z: int
    def __init__(self, x: _Optional[int] = ..., y: _Optional[int] = ..., z: _Optional[int] = ...) -> None: ...

class Relocation(_message.Message):
    __slots__ = ("at", "buffer", "offset")
    AT_FIELD_NUMBER: _ClassVar[int]
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    at: int
    buffer: int
    offset: int
    def __init__(self, at: _Optional[int] = ..., buffer: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class Copy(_message.Message):
    __slots__ = ("source", "source_offset", "destination", "destination_offset", "size_bytes")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_OFFSET_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    source: int
    source_offset: int
    destination: int
    destination_offset: int
    size_bytes: int
    def __init__(self, source: _Optional[int] = ..., source_offset: _Optional[int] = ..., destination: _Optional[int] = ..., destination_offset: _Optional[int] = ..., size_bytes: _Optional[int] = ...) -> None: ...

class Convert(_message.Message):
    __slots__ = ("source", "source_view", "destination", "destination_view")
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_VIEW_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_FIELD_NUMBER: _ClassVar[int]
    DESTINATION_VIEW_FIELD_NUMBER: _ClassVar[int]
    source: int
    source_view: _kernel_pb2.TensorView
    destination: int
    destination_view: _kernel_pb2.TensorView
    def __init__(self, source: _Optional[int] = ..., source_view: _Optional[_Union[_kernel_pb2.TensorView, _Mapping]] = ..., destination: _Optional[int] = ..., destination_view: _Optional[_Union[_kernel_pb2.TensorView, _Mapping]] = ...) -> None: ...

class Fill(_message.Message):
    __slots__ = ("buffer", "offset", "size_bytes", "pattern")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    offset: int
    size_bytes: int
    pattern: bytes
    def __init__(self, buffer: _Optional[int] = ..., offset: _Optional[int] = ..., size_bytes: _Optional[int] = ..., pattern: _Optional[bytes] = ...) -> None: ...

class Upload(_message.Message):
    __slots__ = ("buffer", "variable", "offset", "data", "relocations")
    BUFFER_FIELD_NUMBER: _ClassVar[int]
    VARIABLE_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    RELOCATIONS_FIELD_NUMBER: _ClassVar[int]
    buffer: int
    variable: str
    offset: int
    data: bytes
    relocations: _containers.RepeatedCompositeFieldContainer[Relocation]
    def __init__(self, buffer: _Optional[int] = ..., variable: _Optional[str] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ..., relocations: _Optional[_Iterable[_Union[Relocation, _Mapping]]] = ...) -> None: ...

class Kernel(_message.Message):
    __slots__ = ("name", "display_name", "images")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    name: str
    display_name: str
    images: _containers.RepeatedCompositeFieldContainer[Image]
    def __init__(self, name: _Optional[str] = ..., display_name: _Optional[str] = ..., images: _Optional[_Iterable[_Union[Image, _Mapping]]] = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ("target", "code_object", "symbol", "resources", "block_threads", "layout")
    class ArgumentSlot(_message.Message):
        __slots__ = ("offset", "size", "hidden", "name")
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        SIZE_FIELD_NUMBER: _ClassVar[int]
        HIDDEN_FIELD_NUMBER: _ClassVar[int]
        NAME_FIELD_NUMBER: _ClassVar[int]
        offset: int
        size: int
        hidden: bool
        name: str
        def __init__(self, offset: _Optional[int] = ..., size: _Optional[int] = ..., hidden: _Optional[bool] = ..., name: _Optional[str] = ...) -> None: ...
    TARGET_FIELD_NUMBER: _ClassVar[int]
    CODE_OBJECT_FIELD_NUMBER: _ClassVar[int]
    SYMBOL_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_FIELD_NUMBER: _ClassVar[int]
    BLOCK_THREADS_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    target: str
    code_object: _artifact_pb2.Digest
    symbol: str
    resources: Resources
    block_threads: int
    layout: _containers.RepeatedCompositeFieldContainer[Image.ArgumentSlot]
    def __init__(self, target: _Optional[str] = ..., code_object: _Optional[_Union[_artifact_pb2.Digest, _Mapping]] = ..., symbol: _Optional[str] = ..., resources: _Optional[_Union[Resources, _Mapping]] = ..., block_threads: _Optional[int] = ..., layout: _Optional[_Iterable[_Union[Image.ArgumentSlot, _Mapping]]] = ...) -> None: ...

class Resources(_message.Message):
    __slots__ = ("vgprs", "agprs", "sgprs", "spilled_registers", "lds_bytes", "scratch_bytes", "occupancy_waves", "occupancy_limit", "max_block_threads", "wave_size", "instructions")
    class InstructionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: int
        def __init__(self, key: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
    VGPRS_FIELD_NUMBER: _ClassVar[int]
    AGPRS_FIELD_NUMBER: _ClassVar[int]
    SGPRS_FIELD_NUMBER: _ClassVar[int]
    SPILLED_REGISTERS_FIELD_NUMBER: _ClassVar[int]
    LDS_BYTES_FIELD_NUMBER: _ClassVar[int]
    SCRATCH_BYTES_FIELD_NUMBER: _ClassVar[int]
    OCCUPANCY_WAVES_FIELD_NUMBER: _ClassVar[int]
    OCCUPANCY_LIMIT_FIELD_NUMBER: _ClassVar[int]
    MAX_BLOCK_THREADS_FIELD_NUMBER: _ClassVar[int]
    WAVE_SIZE_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTIONS_FIELD_NUMBER: _ClassVar[int]
    vgprs: int
    agprs: int
    sgprs: int
    spilled_registers: int
    lds_bytes: int
    scratch_bytes: int
    occupancy_waves: float
    occupancy_limit: str
    max_block_threads: int
    wave_size: int
    instructions: _containers.ScalarMap[str, int]
    def __init__(self, vgprs: _Optional[int] = ..., agprs: _Optional[int] = ..., sgprs: _Optional[int] = ..., spilled_registers: _Optional[int] = ..., lds_bytes: _Optional[int] = ..., scratch_bytes: _Optional[int] = ..., occupancy_waves: _Optional[float] = ..., occupancy_limit: _Optional[str] = ..., max_block_threads: _Optional[int] = ..., wave_size: _Optional[int] = ..., instructions: _Optional[_Mapping[str, int]] = ...) -> None: ...

class DeviceProperty(_message.Message):
    __slots__ = ("name", "value")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: int
    def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...
