"""References that ask for a GPU."""

import ast

import pytest

from kernelvault.replay import reference_device


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        ("torch.rand(8, device='cuda', dtype=d)", "torch.rand(8, dtype=d)"),
        ("torch.rand(8).to('cuda:0').float()", "torch.rand(8).float()"),
        ("Model().cuda()", "Model()"),
        ("f(x.cuda(), device='cuda')", "f(x)"),
        ("x.cuda().to('cuda')", "x"),
        ("torch.device('cuda')", "torch.device('cpu')"),
    ],
)
def test_what_asks_for_a_gpu_is_taken_out(given: str, moved: str) -> None:
    """The rest of an expression stays as it is, wherever in it the GPU stands."""
    tree = ast.parse(given)

    assert reference_device.move(tree)
    assert ast.unparse(tree) == moved


@pytest.mark.parametrize("source", ["x.to(torch.float16)", "torch.cuda.is_available()", "'cuda kernels'", "x.cuda(1)"])
def test_other_code_is_left_alone(source: str) -> None:
    """A module without GPUs keeps its text, and so its lines in messages."""
    assert not reference_device.move(ast.parse(source))
