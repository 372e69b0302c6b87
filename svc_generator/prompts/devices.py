"""The accelerators of a target in words, for an author of kernels."""

from __future__ import annotations

from kernelvault import devices
from kernelvault.devices import Gpu

DEFAULT_TARGET = "gfx942"


def describe(target: str) -> str:
    """The accelerators of a target in Markdown; `target` is a key of `kernelvault.devices.TARGETS`."""
    lines = [f"Compiled for `{target}`. A wave has 64 lanes; a compute unit has 4 SIMDs and 512 VGPRs for each lane."]
    return "\n".join([*lines, *(_line(gpu) for gpu in devices.TARGETS[target])])


def _line(gpu: Gpu) -> str:
    part = f" ({gpu.part})" if gpu.part else ""
    fp8 = f", FP8 {_tera(gpu.matrix_flops['f8'])}" if gpu.has_fp8 else ""
    return (
        f"- {gpu.name}{part}: {gpu.compute_units} compute units at "
        f"{gpu.clock_hz / 1e6:g} MHz, each with {gpu.lds_bytes >> 10} KiB of LDS, {_caches(gpu)}, "
        f"{gpu.memory_bytes >> 30} GB at {gpu.hbm_bytes_per_s / 1e12:g} TB/s; vector TFLOPS "
        f"FP32 {_tera(gpu.vector_flops['f32'])}, FP64 {_tera(gpu.vector_flops['f64'])}; matrix TFLOPS FP16 and BF16 "
        f"{_tera(gpu.matrix_flops['f16'])}{fp8}, FP64 {_tera(gpu.matrix_flops['f64'])}"
    )


def _caches(gpu: Gpu) -> str:
    each = f" for each of {gpu.dies} dies" if gpu.dies > 1 else ""
    last_level = f", Infinity Cache {gpu.mall_bytes >> 20} MiB" if gpu.mall_bytes else ""
    return f"L2 {(gpu.l2_bytes // gpu.dies) >> 20} MiB{each}{last_level}"


def _tera(per_second: float) -> str:
    return f"{per_second / 1e12:g}"
