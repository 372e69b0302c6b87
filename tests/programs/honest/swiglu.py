"""silu(gate) * up, both in one tensor."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        gate, up = x.chunk(2, dim=-1)
        return torch.nn.functional.silu(gate) * up


def get_inputs(rows=4, width=64, dtype=torch.float32):
    return [torch.randn(rows, 2 * width, dtype=dtype)]


def get_cases():
    return [
        {"id": f"{r}x{w}-{t}".replace("torch.", ""), "rows": r, "width": w, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for r, w in [(1, 8), (7, 40), (3, 1024)]
    ]
