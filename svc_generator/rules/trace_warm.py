"""Warms the tracer up when it is imported: the zygote pays once for what torch loads at its first trace (1.3 CPU
seconds), and each job, forked from it, starts with that behind it."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from svc_generator.rules.trace_child import traced


def _warm_up() -> None:
    with FakeTensorMode(), torch.no_grad():
        traced(
            lambda x, w: torch.softmax(torch.nn.functional.linear(x, w), -1).mean(),
            [torch.empty(2, 3, dtype=torch.float16), torch.empty(4, 3, dtype=torch.float16)],
        )


_warm_up()
