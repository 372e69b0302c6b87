"""Device code as clang made it for x86-64, made fit for the CPU model: what its runtime must see becomes visible.

| in the module | becomes |
|---|---|
| `__shared__` variables, which clang leaves undefined | zeroed variables with redzones, listed in `@kernel_lds` |
| `extern __shared__` arrays | the runtime's one dynamic buffer |
| `__device__` and `__constant__` variables | writable, with redzones, listed in `@kernel_variables` |
| atomicrmw that -fsanitize=thread does not know | calls of the runtime |
| where lanes of a wave may wait, ends of loops | told to the runtime, see `positions.py` |
| basic blocks | count how often they run, see `counting.py` |
| traps, failed assertions; clocks | calls of the runtime, which ends the launch; its clocks |
| assembly that only waits or hints; `s_barrier` in it | nothing; a call of the runtime, see `assembly.py` |
| pointers to other address spaces | plain pointers: x86-64 has one |
| alignment of vectors above 8 | 8, as the GPU wants it: x86-64 would fault |
| copies of vectors in memory | loads and stores, see `copies.py` |
| functions | internal, instrumented, with chained frames and no tail calls: return addresses tell which barrier it is |

So tables and the target are all that leaves the module, and what it takes from outside is listed in `wants`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from svc_compiler.hip import assembly, copies, counting, ir, positions, unpack
from svc_compiler.hip.unpack import Kernel, Unsupported

REDZONE_BYTES = 128
# Before all shared variables: what is far before them is not taken for a constant.
_FAR_BYTES = 1 << 20
_WIDEST_ACCESS_BITS = 128
_REFUSED = (
    (re.compile(r"^module asm ", re.MULTILINE), "module assembly"),
    (re.compile(r"^@llvm\.global_[cd]tors ", re.MULTILINE), "a constructor of a variable in device code"),
    (re.compile(r"^@[^\n]* ifunc ", re.MULTILINE), "an ifunc"),
    (re.compile(r"^@[^\n]*\.managed = ", re.MULTILINE), "a __managed__ variable"),
    (
        re.compile(r'^(?:@|define )[^\n]*, section "(?!llvm\.)|^define [^\n]* section "', re.MULTILINE),
        "a section of its own",
    ),
    (re.compile(r'^(?:define [^@\n]*@|@)"\\01', re.MULTILINE), "an assembler name of its own"),
)
# Names by which the instrumentation and the runtime are called.
_RESERVED = re.compile(
    r"__tsan_|kvd?_|__builtin_amdgcn_|__o(?:ckl|cml)_|kernel_(?:table|lds|variables|target|blocks|work|block_count)$|mem(?:cpy|move|set|cmp)$|bcmp$|strlen$"
)
_DEFINITION = re.compile(r'^define ([^@\n]*)@("[^"]*"|[\w.$-]+)\(', re.MULTILINE)
# Clang's atomicrmw operations that have no function in ThreadSanitizer's interface.
_ATOMIC = re.compile(
    r"atomicrmw (?:volatile )?(fadd|fsub|fmax|fmin|max|min|umax|umin|uinc_wrap|udec_wrap|usub_cond|usub_sat) "
    r"ptr ([^,\n]+), (<\d+ x \w+>|\w+) ([^\s,]+)[^\n]*?(, !dbg ![0-9]+)?$",
    re.MULTILINE,
)
_ATOMIC_TYPES = {
    "i32": "i32", "i64": "i64", "float": "float", "double": "double", "half": "half",
    "bfloat": "bfloat",     "<2 x half>": "v2half", "<2 x bfloat>": "v2bfloat",
}  # fmt: skip
# What `assert` calls: a function of AMD's headers that prints and traps.
_ASSERTION = re.compile(r"^( *call void )@__assert_?fail\([^\n]*?\)(?=(?: #\d+)?(?:, !dbg|$))", re.MULTILINE)
_ENDINGS = "declare void @kvd_trap()\ndeclare void @kvd_assertion()\n"
_FUNCTION_ATTRIBUTES = re.compile(r'^(attributes #\d+ = \{ )(?=[^\n]*"target-cpu")', re.MULTILINE)
_DECLARATION = re.compile(r'^declare [^@\n]*@("[^"]*"|[\w.$-]+)\(', re.MULTILINE)
_LINKAGE = r"(?:(?:weak|linkonce|weak_odr|linkonce_odr|internal|hidden|protected|dso_local) )*"
_ACCESS = re.compile(r"^(  (?:%\S+ = load|store) [^\n]*, align )(?:16|32|64|128)\b", re.MULTILINE)
_VECTOR_ACCESS = re.compile(r"^  (?:%\S+ = load|store) (?:volatile )?<(\d+) x (\w+)>", re.MULTILINE)


def check(module: str) -> None:
    """Raises Unsupported for what must not be assembled for x86-64, or has no meaning there."""
    for pattern, what in _REFUSED:
        if pattern.search(module):
            raise Unsupported(f"it has {what}, which the CPU model cannot run")
    assembly.check(module)


def check_names(module: str, taken: Collection[str]) -> None:
    """Raises Unsupported where a function has a name by which the runtime or the C library (`taken`) is called.

    The compiler's own calls would find it instead. AMD's headers define inner functions with names of the C library.
    """
    for match in _DEFINITION.finditer(module):
        name = match[2].strip('"')
        if _RESERVED.match(name) or (name in taken and "internal" not in match[1].split()):
            raise Unsupported(f"it defines the function {name}, which the CPU model has")


def rewrite(module: str, kernels: Mapping[str, Kernel], target: str) -> str:
    """The module for the CPU model of `target`: see the table above.

    Raises Unsupported for an atomic that the runtime lacks.
    """
    module = copies.split(_flatten_address_spaces(module))
    variables, lds = _tables(module)
    module = _make_internal(_replace_globals(module))
    module = _call_endings_and_clocks(module)
    module, declarations = _call_atomics(module)
    module, told = positions.number(module)
    module = assembly.replace(module)
    module = _ACCESS.sub(r"\g<1>8", module)
    module = _FUNCTION_ATTRIBUTES.sub(r'\1sanitize_thread "disable-tail-calls"="true" "frame-pointer"="all" ', module)
    module, counters = counting.count(module)
    ends = [_ENDINGS, *declarations, *told, *counters, unpack.table(kernels), lds, variables, _target(target)]
    if "@kvd_dynamic_lds" in module:
        ends.append("@kvd_dynamic_lds = external hidden global [0 x i8], align 128\n")
    return module + "\n" + "".join(ends)


def _call_endings_and_clocks(module: str) -> str:
    module = module.replace("call void @llvm.trap()", "call void @kvd_trap()")
    module = _ASSERTION.sub(r"\1@kvd_assertion()", module)
    return re.sub(r"@llvm\.(read(?:cycle|steady)counter)\b", r"@kvd_\1", module)


def _target(target: str) -> str:
    """`@kernel_target`: the number of the target, read as hexadecimal digits."""
    return f"@kernel_target = hidden constant i32 {int(target.removeprefix('gfx'), 16)}\n"


def wants(module: str) -> set[str]:
    """Functions and variables that the module uses and does not have, but for intrinsics of any machine."""
    functions = {match[1].strip('"') for match in _DECLARATION.finditer(module)}
    outside = {v.name for v in ir.globals_of(module) if not v.initializer and not _is_dynamic_lds(v)}
    return {name for name in functions | outside if not name.startswith("llvm.") or name.startswith("llvm.amdgcn.")}


def variables(module: str) -> dict[str, int]:
    """Module variables by symbol with their sizes in bytes."""
    return {v.name: ir.layout(v.type, module).size for v in ir.globals_of(module) if _is_variable(v)}


def has_wide_accesses(module: str) -> bool:
    """Whether memory is accessed with vectors above 16 bytes, which -fsanitize=thread would not see."""
    return any(int(m[1]) * ir.bits(m[2]) > _WIDEST_ACCESS_BITS for m in _VECTOR_ACCESS.finditer(module))


def _is_lds(variable: ir.Global) -> bool:
    return variable.kind == "global" and variable.initializer in ("undef", "poison")


def _is_dynamic_lds(variable: ir.Global) -> bool:
    return "external" in variable.prefix.split() and variable.type.startswith("[0 x ")


def _is_variable(variable: ir.Global) -> bool:
    if not variable.initializer or _is_lds(variable) or variable.name.startswith(("llvm.", "__hip_cuid")):
        return False
    return variable.kind == "global" or "externally_initialized" in variable.prefix


def _tables(module: str) -> tuple[str, str]:
    """The texts of `@kernel_variables` and `@kernel_lds`."""
    rows: dict[str, list[str]] = {"kernel_variables": [], "kernel_lds": []}
    names = ""
    for index, variable in enumerate(ir.globals_of(module)):
        table = "kernel_lds" if _is_lds(variable) else "kernel_variables" if _is_variable(variable) else ""
        if table:
            size = ir.layout(variable.type, module).size
            names += f"@kv.variable.{index} = private constant {unpack.c_string(variable.name)}\n"
            rows[table].append(
                f"{{ ptr, ptr, i64 }} {{ ptr @kv.variable.{index}, ptr @{variable.symbol}, i64 {size} }}"
            )
    lds, variables_ = (
        unpack.array(table, "{ ptr, ptr, i64 }", rows[table]) for table in ("kernel_lds", "kernel_variables")
    )
    return variables_, names + lds


def _replace_globals(module: str) -> str:
    parts, position, dynamic = [], 0, []
    first_lds = next((v.symbol for v in ir.globals_of(module) if _is_lds(v)), "")
    for variable in ir.globals_of(module):
        if _is_dynamic_lds(variable):
            text = ""
            dynamic.append(variable.symbol)
        elif _is_lds(variable) or _is_variable(variable):
            text = _with_redzones(variable, _FAR_BYTES if variable.symbol == first_lds else REDZONE_BYTES)
        else:
            continue
        parts += [module[position : variable.start], text]
        position = variable.end
    module = "".join([*parts, module[position:]])
    for symbol in dynamic:
        module = re.sub(rf"@{re.escape(symbol)}(?![\w.$-])", "@kvd_dynamic_lds", module)
    return module


def _make_internal(module: str) -> str:
    module = re.sub(r"^\$[^\n]* = comdat any\n", "", module, flags=re.MULTILINE)
    module = re.sub(rf"^define {_LINKAGE}", "define internal ", module, flags=re.MULTILINE)
    flags = "(?:unnamed_addr |local_unnamed_addr |externally_initialized )*"
    defined = re.compile(rf"^(@[^\n=]+ = ){_LINKAGE}(?={flags}(?:global|constant) )", re.MULTILINE)
    module = defined.sub(r"\1internal ", module)
    return re.sub(r"^((?:define|@)[^\n]*?),? comdat(?:\([^)\n]*\))?(?=[, ])", r"\1", module, flags=re.MULTILINE)


def _with_redzones(variable: ir.Global, before: int) -> str:
    """A variable between redzones, and its own name for what lies between them."""
    first, zone = f"[{before} x i8]", f"[{REDZONE_BYTES} x i8]"
    value = "zeroinitializer" if _is_lds(variable) else variable.initializer
    kept = [a for a in variable.attributes if not a.startswith(("align", "section"))]
    if not _is_lds(variable):  # apart from LDS, which is among what is zero
        kept.insert(0, 'section "kvvariables"')
    prefix = variable.prefix.replace("unnamed_addr ", "").replace("local_", "")
    whole, name = f"{{ {first}, {variable.type}, {zone} }}", f'"kv.zones.{variable.name}"'
    values = f"{{ {first} zeroinitializer, {variable.type} {value}, {zone} zeroinitializer }}"
    inside = f"getelementptr inbounds ({whole}, ptr @{name}, i32 0, i32 1)"
    return (
        f"@{name} = {prefix}global {', '.join([f'{whole} {values}', *kept, f'align {REDZONE_BYTES}'])}\n"
        f"@{variable.symbol} = internal alias {variable.type}, ptr {inside}"
    )


def _flatten_address_spaces(module: str) -> str:
    if " addrspace(" not in module:
        return module
    module = re.sub(r" addrspace\(\d+\)", "", module)
    module = re.sub(r"\baddrspacecast (?=\(?ptr )", "bitcast ", module)
    module = re.sub(r"(@llvm\.[\w.]+?)((?:\.p\d+)+)", lambda m: m[1] + re.sub(r"p\d+", "p0", m[2]), module)
    seen: set[str] = set()
    lines = []
    for line in module.splitlines():  # overloads for several address spaces are one now
        if line.startswith("declare ") and "@llvm." in line:
            name = line[line.index("@") : line.index("(", line.index("@"))]
            if name in seen:
                continue
            seen.add(name)
        lines.append(line)
    return "\n".join(lines) + "\n"


def _call_atomics(module: str) -> tuple[str, list[str]]:
    declared: dict[str, str] = {}

    def call(match: re.Match[str]) -> str:
        operation, pointer, type_, value, debug = match.groups()
        if type_ not in _ATOMIC_TYPES:
            raise Unsupported(f"it has an atomic {operation} of {type_}, which the CPU model cannot run")
        name = f"kvd_atomic_{operation}_{_ATOMIC_TYPES[type_]}"
        declared[name] = f"declare {type_} @{name}(ptr, {type_})\n"
        return f"call {type_} @{name}(ptr {pointer}, {type_} {value}){debug or ''}"

    return _ATOMIC.sub(call, module), list(declared.values())
