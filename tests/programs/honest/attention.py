"""Causal attention."""

import torch


class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


def get_inputs(batch=1, heads=2, length=33, width=32, dtype=torch.float32):
    return [torch.randn(batch, heads, length, width, dtype=dtype) for _ in range(3)]


def get_cases():
    return [
        {"id": f"{b}x{h}x{n}x{d}-{str(t)[6:]}", "batch": b, "heads": h, "length": n, "width": d, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for b, h, n, d in [(1, 1, 1, 64), (2, 3, 33, 64), (1, 2, 65, 64)]
    ]
