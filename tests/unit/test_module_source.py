"""The extensions of a module as one source for the compiler."""

from __future__ import annotations

from pathlib import Path

from svc_compiler.hip import pasted
from svc_compiler.module import source
from svc_compiler.triton.capture_trace import Extension

CPP = "torch::Tensor f(torch::Tensor x, double eps = 1e-5, int n = at::size(x, 0));"
CUDA = "#include <vector>\ntorch::Tensor f(torch::Tensor x, double eps = 1e-5, int n = 1) { return x; }\n"
PYTHON = {"kernels/a.py": f"import torch\n\ntext = '''{CUDA}'''\n"}


def extension(name: str, *texts: str, functions: dict[str, str] | None = None) -> Extension:
    """An extension of inline sources, loaded in line 5."""
    return Extension(
        name, [("", text, "") for text in texts], functions, ["BLOCK=128", "FAST", "9=x"], "kernels/a.py:5"
    )


def written(folder: Path, *extensions: Extension) -> tuple[str, dict[str, str]]:
    """The main source, and the parts by the file and the line where they begin."""
    source.write(extensions, folder, PYTHON)
    parts = {}
    for path in sorted(folder.glob("kernelvault~*")):
        text = path.read_text()
        line = len(text) - len(text.lstrip("\n")) + 1
        parts[f"{pasted.origin(path.name)}:{line}"] = text.strip()
    return (folder / source.NAME).read_text(), parts


def test_parts_keep_their_lines(tmp_path: Path) -> None:
    """Text of the Python file stands on its lines, other text in a file of its own, bindings where it is loaded."""
    _, parts = written(tmp_path, extension("a", CPP, CUDA, functions={"f": "doc"}))
    assert parts["kernels/a.py:3"] == CUDA.strip()
    assert parts["a_0.hip:1"] == "torch::Tensor f(torch::Tensor x, double eps , int n );"
    assert parts["kernels/a.py:5"] == 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }'


def test_macros_of_an_extension(tmp_path: Path) -> None:
    """Flags become macros that end with the extension; what is no macro's name is left out."""
    main, _ = written(tmp_path, extension("my-add", CUDA))
    assert "#define BLOCK 128\n#undef FAST\n#define FAST 1\n" in main
    assert "#define TORCH_EXTENSION_NAME my_add\n" in main
    after = main.rpartition("#include")[2]
    assert "BLOCK" in after
    assert "FAST" in after
    assert "namespace" not in main
    assert "9" not in main


def test_namespaces_of_several(tmp_path: Path) -> None:
    """Each has a namespace and a prefix; headers come before all of them."""
    main, _ = written(tmp_path, extension("a", CUDA), extension("a", CUDA))
    assert main.index("#include <vector>") < main.index("namespace a_0 {") < main.index("namespace a_1 {")
    assert '#define KERNELVAULT_EXTENSION "1."' in main


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    """A name is a file's below the folder, whatever a candidate calls its extension."""
    strange = Extension("../" * 200 + 'x"\n', [("", "int x;", '../"x\0')], {}, [], "x:99999999999")
    source.write([strange], tmp_path, {})
    assert all(path.parent == tmp_path for path in tmp_path.rglob("*"))
    assert len(list(tmp_path.iterdir())) == 3
