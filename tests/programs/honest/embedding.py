"""Rows of a table."""

import torch


class Model(torch.nn.Module):
    def __init__(self, rows=50, width=20):
        super().__init__()
        self.table = torch.nn.Embedding(rows, width)

    def forward(self, index):
        return self.table(index)


def get_inputs(batch=2, length=5, rows=50):
    return [torch.randint(0, rows, (batch, length))]


def get_init_inputs(rows=50, width=20):
    return [rows, width]


def get_cases():
    return [
        {"id": "one", "batch": 1, "length": 1, "rows": 3, "width": 1},
        {"id": "odd", "batch": 3, "length": 7, "rows": 31, "width": 33},
        {"id": "wide", "batch": 2, "length": 4, "rows": 10, "width": 256},
    ]
