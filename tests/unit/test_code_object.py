"""Reading of metadata and disassembly, on texts of the shape that the tools print."""

from __future__ import annotations

import pytest

from svc_compiler import code_object

NOTES = """
Symbol table '.symtab' contains 3 entries:
   Num:    Value          Size Type    Bind   Vis       Ndx Name
     1: 0000000000001a00   140 FUNC    GLOBAL PROTECTED   7 _Z5scalePfi
     2: 0000000000000900    64 OBJECT  GLOBAL PROTECTED   6 _Z5scalePfi.kd
Displaying notes found in: .note
    AMDGPU Metadata:
        ---
amdhsa.kernels:
  - .agpr_count:     192
    .args:
      - .address_space:  global
        .name:           x.coerce
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .name:           n
        .offset:         8
        .size:           4
        .value_kind:     by_value
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
    .group_segment_fixed_size: 1024
    .max_flat_workgroup_size: 256
    .name:           _Z5scalePfi
    .private_segment_fixed_size: 16
    .sgpr_count:     14
    .sgpr_spill_count: 1
    .symbol:         _Z5scalePfi.kd
    .vgpr_count:     448
    .vgpr_spill_count: 2
    .wavefront_size: 64
  - .agpr_count:     0
    .name:           plain
    .vgpr_count:     4
amdhsa.target:   amdgcn-amd-amdhsa--gfx942
amdhsa.version:
  - 1
  - 2
...
"""

DISASSEMBLY = """
Disassembly of section .text:

0000000000001a00 <scale(float*, int)>:
\ts_load_dword s3, s[0:1], 0x2c                              // 000000001A00:
\ts_waitcnt lgkmcnt(0)                                       // 000000001A10:
\tv_fma_f32 v2, v6, v7, v1                                   // 000000001A14:
\tglobal_store_dword v[0:1], v2, off                         // 000000001A18:
\ts_endpgm                                                   // 000000001A20:
\ts_nop 0                                                    // 000000001A24:
"""


def test_layout_leaves_out_hidden_arguments() -> None:
    """The runtime's own arguments are not in a plan's argument bytes."""
    layout = code_object.kernels(NOTES)[0].layout
    assert [(slot.name, slot.offset, slot.size) for slot in layout] == [("x", 0, 8), ("n", 8, 4)]


def test_a_kernel_without_arguments() -> None:
    """Metadata may have no `.args`."""
    kernel = code_object.kernels(NOTES)[1]
    assert (kernel.name, kernel.layout, dict(kernel.numbers)) == ("plain", [], {"agpr_count": 0, "vgpr_count": 4})


def test_registers_are_told_apart() -> None:
    """`.vgpr_count` holds the AGPRs, and spills of both kinds add up."""
    made = code_object.resources(code_object.kernels(NOTES)[0], "gfx942", {})
    assert (made.vgprs, made.agprs, made.sgprs, made.spilled_registers) == (256, 192, 14, 3)
    assert (made.lds_bytes, made.scratch_bytes, made.max_block_threads, made.wave_size) == (1024, 16, 256, 64)
    assert (made.occupancy_waves, made.occupancy_limit) == (1, "vgprs")


def test_functions_by_symbol_with_their_written_name() -> None:
    """The disassembler demangles; the address leads back to the symbol. Padding is no instruction."""
    found = code_object.functions(DISASSEMBLY, code_object.addresses(NOTES))
    assert found["_Z5scalePfi"].display_name == "scale(float*, int)"
    expected = {"scalar_load": 1, "wait": 1, "fma_f32": 1, "global_store_b32": 1, "salu": 1}
    assert dict(found["_Z5scalePfi"].instructions) == expected


@pytest.mark.parametrize(
    ("mnemonic", "expected"),
    [
        ("v_mfma_f32_16x16x16_f16", "mfma_f16"),
        ("v_mfma_f32_32x32x8_bf16_1k", "mfma_f16"),
        # As gfx90a spells them.
        ("v_mfma_f32_32x32x8f16", "mfma_f16"),
        ("v_mfma_f32_32x32x8bf16_1k", "mfma_f16"),
        ("v_mfma_i32_32x32x8i8", "mfma_f8"),
        ("v_mfma_f32_32x32x2f32", "mfma_f32"),
        ("v_mfma_f32_16x16x32_fp8_bf8", "mfma_f8"),
        ("v_mfma_i32_16x16x32_i8", "mfma_f8"),
        ("v_mfma_scale_f32_16x16x128_f8f6f4", "mfma_f8"),
        ("v_mfma_f32_16x16x4_f32", "mfma_f32"),
        ("v_mfma_f32_16x16x8_xf32", "mfma_xf32"),
        ("v_mfma_f64_16x16x4_f64", "mfma_f64"),
        ("v_smfmac_f32_16x16x32_f16", "mfma_f16"),
        ("v_exp_f32_e32", "transcendental"),
        ("v_fmac_f32_e32", "fma_f32"),
        ("v_pk_fma_f16", "fma_packed"),
        ("v_fma_f64", "fma_f64"),
        ("v_add_f32_e32", "float"),
        ("v_pk_mul_f32", "float_packed"),
        ("v_add_f64", "float_f64"),
        ("v_add_u32_e32", "valu"),
        ("v_cndmask_b32_e32", "valu"),
        ("global_load_dwordx4", "global_load_b128"),
        ("global_load_ushort", "global_load_b16"),
        ("global_load_ubyte", "global_load_b8"),
        ("buffer_store_dword", "global_store_b32"),
        ("buffer_store_short_d16_hi", "global_store_b16"),
        ("global_atomic_add_f32", "global_atomic"),
        ("flat_atomic_cmpswap", "flat_atomic"),
        ("scratch_store_dword", "scratch_store_b32"),
        ("ds_read_b128", "lds_load_b128"),
        ("ds_read2st64_b64", "lds_load_b128"),
        ("ds_write2_b32", "lds_store_b64"),
        ("ds_write_b16", "lds_store_b16"),
        ("ds_bpermute_b32", "lds_permute"),
        ("ds_add_u32", "lds_atomic"),
        ("s_load_dwordx4", "scalar_load"),
        ("s_barrier", "barrier"),
        ("s_swappc_b64", "call"),
        ("s_cbranch_vccnz", "branch"),
        ("s_add_i32", "salu"),
        ("image_load", "other"),
    ],
)
def test_classes(mnemonic: str, expected: str) -> None:
    """Each instruction has one class."""
    assert code_object.classify(mnemonic) == expected


@pytest.mark.parametrize(
    ("instructions", "expected"),
    [
        ({"valu": 3, "global_load_b32": 2}, False),
        ({"lds_store_b32": 1}, False),
        ({"scratch_store_b32": 1}, False),
        ({"global_store_b128": 1}, True),
        ({"flat_atomic": 1}, True),
        ({"call": 1}, True),
    ],
)
def test_kernels_that_can_write(instructions: dict[str, int], expected: bool) -> None:
    """A kernel without stores to global memory cannot have computed an output."""
    assert code_object.holds_stores(instructions) is expected


def test_no_metadata_is_said() -> None:
    """Text that is no code object's raises."""
    with pytest.raises(ValueError, match="no AMDGPU metadata"):
        code_object.kernels("nothing")


def test_a_code_object_without_kernels() -> None:
    """Device functions alone give no kernel."""
    assert code_object.kernels("amdhsa.target: x\namdhsa.version:\n  - 1\n") == []
