"""A linear layer and GELU."""

import torch


class Model(torch.nn.Module):
    def __init__(self, inputs=32, outputs=16):
        super().__init__()
        self.linear = torch.nn.Linear(inputs, outputs)

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x), approximate="tanh")


def get_inputs(rows=5, inputs=32, dtype=torch.float32):
    return [torch.randn(rows, inputs, dtype=dtype)]


def get_init_inputs(inputs=32, outputs=16):
    return [inputs, outputs]


def get_cases():
    return [
        {"id": f"{r}x{i}x{o}-{t}".replace("torch.", ""), "rows": r, "inputs": i, "outputs": o, "dtype": t}
        for t in (torch.float32, torch.float16, torch.bfloat16)
        for r, i, o in [(1, 1, 1), (5, 33, 17), (40, 64, 70)]
    ]
