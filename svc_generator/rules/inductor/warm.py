"""Warms Inductor up when it is imported: the zygote pays once for what it loads at its first lowering."""

from __future__ import annotations

import torch.hub

from svc_generator.rules.inductor import child, device, lower, rebuild

_NODES = [
    {"op": "input", "target": "input", "args": {}, "dtypes": ["float16"]},
    {"op": "input", "target": "input", "args": {}, "dtypes": ["float16"]},
    {
        "op": "mm",
        "target": "aten.mm.default",
        "args": {"self": {"node": 0, "casts": [[]]}, "mat2": {"node": 1, "casts": [[]]}},
        "dtypes": ["float16"],
    },
    {
        "op": "sum",
        "target": "aten.sum.dim_IntList",
        "args": {"self": {"node": 2, "casts": [["float32"]]}, "dim": [1]},
        "dtypes": ["float32"],
    },
    {"op": "exp", "target": "aten.exp.default", "args": {"self": {"node": 3, "casts": [[]]}}, "dtypes": ["float32"]},
]
_SYMBOLS = {"s0": [5], "s1": [7], "s2": [11]}
_REQUEST = {
    "symbols": _SYMBOLS,
    "floats": {},
    "inputs": [[{"expression": "s0"}, {"expression": "s1"}], [{"expression": "s1"}, {"expression": "s2"}]],
    "nodes": _NODES,
    "outputs": [{"node": 4, "casts": [[]]}],
}


def _warm_up() -> None:
    # The progress bar of torch.fx starts a thread that would not survive a fork.
    torch.hub.tqdm.monitor_interval = 0  # type: ignore[attr-defined]
    device.pretend()
    lower.lower(rebuild.rebuild(_REQUEST, 0, 0), _SYMBOLS)


_warm_up()
__all__ = ["child"]
