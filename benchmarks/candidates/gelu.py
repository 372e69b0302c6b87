"""The Gaussian error linear unit, in its exact form."""

import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.gelu(x)


def get_inputs(rows=16, columns=64):
    return [torch.randn(rows, columns)]


def get_cases():
    return [
        {"id": f"{rows}x{columns}", "rows": rows, "columns": columns}
        for rows, columns in ((1, 1), (3, 7), (16, 64), (33, 100), (64, 128))
    ]
