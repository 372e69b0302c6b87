"""Llama's rotary position embedding of queries and keys."""

import torch
from transformers.models.llama import modeling_llama

FAMILY = "rotary"
SOURCE = "transformers 5, transformers.models.llama.modeling_llama.apply_rotary_pos_emb"
LICENSE = "Apache-2.0"


class Model(torch.nn.Module):
    def forward(self, query, key, cosine, sine):
        return modeling_llama.apply_rotary_pos_emb(query, key, cosine, sine)


def get_inputs(batch=4, heads=16, length=512, width=64, dtype=torch.float32):
    return [
        torch.randn(batch, heads, length, width, dtype=dtype),
        torch.randn(batch, heads // 2, length, width, dtype=dtype),
        torch.randn(batch, length, width, dtype=dtype),
        torch.randn(batch, length, width, dtype=dtype),
    ]


def get_init_inputs():
    return []


def get_cases():
    correctness = [
        (1, 2, 1, 2, "float32"),
        (2, 4, 5, 8, "float32"),
        (1, 4, 33, 16, "float32"),
        (2, 2, 7, 64, "float32"),
        (1, 8, 17, 32, "float32"),
        (3, 2, 20, 10, "float32"),
        (2, 6, 9, 20, "float32"),
        (1, 2, 31, 16, "float16"),
        (2, 4, 16, 64, "float16"),
        (1, 2, 13, 24, "bfloat16"),
        (2, 4, 10, 32, "bfloat16"),
    ]
    performance = [(4, 16, 512, 64, "float32"), (4, 16, 512, 128, "float16"), (2, 12, 777, 96, "bfloat16")]
    return [
        {
            "id": f"{batch}x{heads}x{length}x{width}-{dtype}",
            "kind": kind,
            "batch": batch,
            "heads": heads,
            "length": length,
            "width": width,
            "dtype": getattr(torch, dtype),
        }
        for kind, shapes in (("correctness", correctness), ("performance", performance))
        for batch, heads, length, width, dtype in shapes
    ]
