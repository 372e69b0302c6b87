"""The GPUs as an author of kernels sees them.

Peaks are the dense ones of AMD's data sheets (Instinct MI250X, MI300X, MI325X, MI355X) and of the CDNA 2, 3 and 4 white
papers; of the MI250X one of its two dies (GCDs), which is what a kernel runs on.
"""

from __future__ import annotations

import dataclasses

DEFAULT_TARGET = "gfx942"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Device:
    """Published figures. TFLOPS are 10^12 floating-point operations a second, of the vector or the matrix cores."""

    name: str
    compute_units: int
    clock_mhz: int
    lds_kib: int
    l2_mib: int
    l2_note: str
    last_level_mib: int
    memory_gb: int
    memory_tb_s: float
    vector_fp32_tflops: float
    vector_fp64_tflops: float
    matrix_fp16_tflops: float
    # 0: the matrix cores have no FP8.
    matrix_fp8_tflops: float
    matrix_fp64_tflops: float


_MI300X = Device(
    name="MI300X",
    compute_units=304,
    clock_mhz=2100,
    lds_kib=64,
    l2_mib=4,
    l2_note="for each of 8 dies",
    last_level_mib=256,
    memory_gb=192,
    memory_tb_s=5.3,
    vector_fp32_tflops=163.4,
    vector_fp64_tflops=81.7,
    matrix_fp16_tflops=1307.4,
    matrix_fp8_tflops=2614.9,
    matrix_fp64_tflops=163.4,
)
_MI355X = Device(
    name="MI355X",
    compute_units=256,
    clock_mhz=2400,
    lds_kib=160,
    l2_mib=4,
    l2_note="for each of 8 dies",
    last_level_mib=256,
    memory_gb=288,
    memory_tb_s=8.0,
    vector_fp32_tflops=157.3,
    vector_fp64_tflops=78.6,
    matrix_fp16_tflops=2516.6,
    matrix_fp8_tflops=5033.2,
    matrix_fp64_tflops=78.6,
)
_MI250X = Device(
    name="MI250X (one of two dies)",
    compute_units=110,
    clock_mhz=1700,
    lds_kib=64,
    l2_mib=8,
    l2_note="",
    last_level_mib=0,
    memory_gb=64,
    memory_tb_s=1.6,
    vector_fp32_tflops=23.9,
    vector_fp64_tflops=23.9,
    matrix_fp16_tflops=191.5,
    matrix_fp8_tflops=0,
    matrix_fp64_tflops=47.9,
)
TARGETS = {
    "gfx90a": (_MI250X,),
    "gfx942": (_MI300X, dataclasses.replace(_MI300X, name="MI325X", memory_gb=256, memory_tb_s=6.0)),
    "gfx950": (_MI355X,),
}


def describe(target: str) -> str:
    """The GPUs of a target in Markdown; `target` is a key of `TARGETS`."""
    lines = [f"Compiled for `{target}`. A wave has 64 lanes; a compute unit has 4 SIMDs and 512 VGPRs for each lane."]
    return "\n".join([*lines, *(_line(device) for device in TARGETS[target])])


def _line(device: Device) -> str:
    caches = f"L2 {device.l2_mib} MiB {device.l2_note}".strip()
    if device.last_level_mib:
        caches += f", Infinity Cache {device.last_level_mib} MiB"
    fp8 = f", FP8 {device.matrix_fp8_tflops:g}" if device.matrix_fp8_tflops else ""
    return (
        f"- {device.name}: {device.compute_units} compute units at {device.clock_mhz} MHz, each with "
        f"{device.lds_kib} KiB of LDS, {caches}, {device.memory_gb} GB at {device.memory_tb_s:g} TB/s; vector TFLOPS "
        f"FP32 {device.vector_fp32_tflops:g}, FP64 {device.vector_fp64_tflops:g}; matrix TFLOPS FP16 and BF16 "
        f"{device.matrix_fp16_tflops:g}{fp8}, FP64 {device.matrix_fp64_tflops:g}"
    )
