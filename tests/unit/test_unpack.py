"""Unpacking entries: where a kernel's lowered parameters lie in its argument bytes."""

from __future__ import annotations

import pytest

from kernelvault.v1 import plan_pb2
from svc_compiler.hip import device_ir, ir, unpack

Slot = plan_pb2.Image.ArgumentSlot
MODULE = """\
%struct.View = type { ptr, i32 }
%struct.Big = type { ptr, ptr, double, i32, i8 }
%struct.Empty = type { i8 }

define void @kernel(ptr noundef %x, ptr %in.coerce0, i32 %in.coerce1, ptr noundef byval(%struct.Big) align 8 %big) #0 {
  %x.addr = alloca ptr, align 8
  %in = alloca %struct.View, align 8
  ret void
}

define void @flag(i1 noundef zeroext %yes, <2 x float> %c.coerce0, float %c.coerce1) #0 {
  %c = alloca { float, float, float }, align 4
  ret void
}
"""


def slots(*places: tuple[int, int, str]) -> list[Slot]:
    """Arguments from their offset, size and name in the metadata."""
    return [Slot(offset=offset, size=size, name=name) for offset, size, name in places]


KERNEL = slots((0, 8, "x"), (8, 16, ""), (24, 32, ""))


def test_struct_in_registers_and_struct_in_memory() -> None:
    """A struct of 16 bytes is two parameters, a larger one is one by value; each has its place."""
    kernel = unpack.find("kernel", KERNEL, MODULE)
    assert [(p.type, p.byval, offset) for p, offset in kernel.way] == [
        ("ptr", False, 0),
        ("ptr", False, 8),
        ("i32", False, 16),
        ("ptr", True, 24),
    ]


def test_padding_is_what_no_member_owns() -> None:
    """Four bytes behind the view's integer, three behind the big struct's character."""
    kernel = unpack.find("kernel", KERNEL, MODULE)
    assert unpack.padding(kernel, KERNEL, MODULE) == [20, 21, 22, 23, 53, 54, 55]


def test_entry_loads_and_calls() -> None:
    """A bool is a byte in memory and one bit in a register; by-value structs are passed where they lie."""
    arguments = slots((0, 1, "yes"), (4, 12, ""))
    assert unpack.entry(3, unpack.find("flag", arguments, MODULE)) == (
        'define internal void @kv.entry.3(ptr %bytes) "frame-pointer"="all" {\n'
        "  %a0 = getelementptr i8, ptr %bytes, i64 0\n"
        "  %b0 = load i8, ptr %a0, align 1\n"
        "  %v0 = trunc i8 %b0 to i1\n"
        "  %a1 = getelementptr i8, ptr %bytes, i64 4\n"
        "  %v1 = load <2 x float>, ptr %a1, align 1\n"
        "  %a2 = getelementptr i8, ptr %bytes, i64 12\n"
        "  %v2 = load float, ptr %a2, align 1\n"
        '  call void @"flag"(i1 noundef zeroext %v0, <2 x float>  %v1, float  %v2)\n'
        "  ret void\n"
        "}\n"
    )


def test_empty_class_takes_no_register() -> None:
    """An argument of one byte without a parameter is an empty class, and all of it is padding."""
    module = "define void @k(ptr noundef %x) {\n  %f = alloca %struct.Empty, align 1\n}\n"
    arguments = slots((0, 1, ""), (8, 8, "x"))
    kernel = unpack.find("k", arguments, module)
    assert [offset for _, offset in kernel.way] == [8]
    assert unpack.padding(kernel, arguments, module) == [0]


def test_ambiguous_arguments_are_refused() -> None:
    """Two classes of one byte and one unnamed parameter could go either way."""
    module = "define void @k(i8 %0) {\n}\n"
    with pytest.raises(unpack.Unsupported, match="2 ways to unpack"):
        unpack.find("k", slots((0, 1, ""), (1, 1, "")), module)


def test_class_with_a_copy_constructor_is_refused() -> None:
    """x86-64 passes such a class by address, the GPU by value."""
    module = "define void @k(ptr noundef dead_on_return %x) {\n}\n"
    with pytest.raises(unpack.Unsupported, match="non-trivial copy"):
        unpack.find("k", slots((0, 24, "")), module)


def test_kernel_without_a_cpu_body_is_refused() -> None:
    """What the GPU has and the CPU pass has not cannot be replayed."""
    with pytest.raises(unpack.Unsupported, match="has code for the GPU and none for the CPU"):
        unpack.find("other", [], MODULE)


@pytest.mark.parametrize(
    ("type_", "size", "used"),
    [
        ("i1", 1, 1),
        ("[3 x i16]", 6, 6),
        ("<3 x float>", 16, 12),
        ("{ i8, i32 }", 8, 5),
        ("<{ i8, i32 }>", 5, 5),
        ("%struct.View", 16, 12),
        ("[2 x %struct.Big]", 64, 58),
    ],
)
def test_layout_of_types(type_: str, size: int, used: int) -> None:
    """Sizes with padding, and the bytes that members own."""
    layout = ir.layout(type_, MODULE)
    assert (layout.size, len(layout.used)) == (size, used)


ASM = "  call void asm sideeffect "


@pytest.mark.parametrize(
    "text", ["", "s_nop 0", "\\09s_waitcnt vmcnt(0) lgkmcnt(0) ; all\\0A\\09s_setprio 1\\0A", "s_barrier"]
)
def test_assembly_that_only_waits_is_taken(text: str) -> None:
    """Nobody sees a wait or a hint where one operation follows another; a barrier is the runtime's."""
    statement = f'{ASM}"{text}", "~{{memory}}"() #3, !dbg !7\n'
    device_ir.check(statement)
    barrier = "call void @__builtin_amdgcn_s_barrier(), !dbg !7"
    found = device_ir.rewrite(statement, {}, "gfx942")
    assert (barrier in found) == ("s_barrier" in text)
    assert ('asm sideeffect ""' in found) == ("s_barrier" not in text)


@pytest.mark.parametrize(
    "statement",
    [
        f'{ASM}"v_mov_b32 v0, 1", ""()',
        f'{ASM}"s_nop 0\\0Av_mov_b32 $0, 1", "v"(i32 %0)',
        '  callbr void asm sideeffect "jmp ${0:l}", "!i"()',
        '  %1 = call i32 asm sideeffect "s_barrier", "=v"()',
    ],
)
def test_other_assembly_is_refused(statement: str) -> None:
    """What computes, jumps, or gives back something is for a GPU."""
    with pytest.raises(unpack.Unsupported, match="inline assembly"):
        device_ir.check(statement + "\n")


def test_outputs_of_empty_assembly_are_the_inputs_that_they_are_tied_to() -> None:
    """Whatever registers it names: x86-64 would find none for some of them."""
    call = '  %3 = call contract { float, ptr } asm sideeffect "", "=v,=v,0,1,~{memory}"'
    statement = f"{call}(float %1, ptr %2), !dbg !7\n"
    one = '  %4 = call <16 x float> asm "", "={ax},0"(<16 x float> %0) #3\n'
    text = device_ir.rewrite(statement + one, {}, "gfx942")
    assert text.startswith(
        '  call void asm sideeffect "", "~{memory}"(), !dbg !7\n'
        "  %kv.asm.0.0 = insertvalue { float, ptr } poison, float %1, 0, !dbg !7\n"
        "  %3 = insertvalue { float, ptr } %kv.asm.0.0, ptr %2, 1, !dbg !7\n"
        '  call void asm sideeffect "", ""()\n'
        "  %4 = freeze <16 x float> %0\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('module asm "nop"\n', "module assembly"),
        ("@llvm.global_ctors = appending global [1 x ptr] zeroinitializer\n", "a constructor"),
        ("@f = ifunc void (), ptr @g\n", "an ifunc"),
        ("@v.managed = externally_initialized global i32 0\n", "a __managed__ variable"),
        ('@p = global ptr @f, section ".init_array", align 8\n', "a section of its own"),
        ('define void @f() #0 section ".init" {\n}\n', "a section of its own"),
        ('define void @"\\01__tsan_read4"(ptr %p) {\n}\n', "an assembler name of its own"),
    ],
)
def test_what_must_not_be_assembled(text: str, said: str) -> None:
    """Each is named in the refusal."""
    with pytest.raises(unpack.Unsupported, match=said):
        device_ir.check(text)


@pytest.mark.parametrize("name", ["__tsan_write4", "kv_launch", "memcpy", "__ockl_get_local_id", "expf"])
def test_names_of_the_runtime_are_taken(name: str) -> None:
    """A function of the candidate must not stand in for a hook, a builtin or the C library."""
    with pytest.raises(unpack.Unsupported, match=f"defines the function {name}"):
        device_ir.check_names(f"define weak void @{name}(ptr %p) {{\n}}\n", {"expf"})
    device_ir.check_names("define internal float @expf(float %x) {\n}\n", {"expf"})


def test_shared_and_module_variables_are_listed_apart() -> None:
    """Shared variables are what clang leaves undefined; `extern __shared__` becomes the one dynamic buffer."""
    module = (
        "@tile = linkonce_odr global [4 x float] undef, comdat, align 16\n"
        "@dyn = external global [0 x i8], align 1\n"
        "@c = externally_initialized constant i32 3, align 4\n"
        '@.str = private unnamed_addr constant [2 x i8] c"a\\00", align 1\n'
        "define void @k() #0 {\n  store i8 1, ptr @dyn, align 1\n}\n"
    )
    text = device_ir.rewrite(module, {}, "gfx942")
    assert device_ir.variables(module) == {"c": 4}
    zones = '@"kv.zones.{}" = internal {}global {{ [{} x i8], {}, [128 x i8] }} {{ [{} x i8] zeroinitializer, {}'
    assert zones.format("tile", "", 1 << 20, "[4 x float]", 1 << 20, "[4 x float] zeroinitializer") in text
    assert zones.format("c", "externally_initialized ", 128, "i32", 128, "i32 3") in text
    assert (
        '@c = internal alias i32, ptr getelementptr inbounds ({ [128 x i8], i32, [128 x i8] }, ptr @"kv.zones.c"'
        in text
    )
    assert "store i8 1, ptr @kvd_dynamic_lds, align 1" in text
    assert "@kernel_lds = hidden constant [2 x { ptr, ptr, i64 }]" in text
    assert "@kernel_variables = hidden constant [2 x { ptr, ptr, i64 }]" in text
    assert device_ir.wants(text) == {"kvd_trap", "kvd_assertion"}


def test_atomics_that_the_sanitizer_does_not_know_become_calls() -> None:
    """An atomic float addition is no function of ThreadSanitizer; an unknown one is refused."""
    line = "  %3 = atomicrmw fadd ptr %0, float %2 monotonic, align 4, !dbg !7\n"
    assert "%3 = call float @kvd_atomic_fadd_float(ptr %0, float %2), !dbg !7" in device_ir.rewrite(line, {}, "gfx942")
    with pytest.raises(unpack.Unsupported, match="an atomic fadd of fp128"):
        device_ir.rewrite(line.replace("float", "fp128"), {}, "gfx942")


def test_wide_accesses_are_seen() -> None:
    """More than 16 bytes at once."""
    assert not device_ir.has_wide_accesses("  %1 = load <4 x float>, ptr %0, align 16\n")
    assert device_ir.has_wide_accesses("  store <8 x float> %2, ptr %0, align 32\n")
