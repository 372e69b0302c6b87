"""A client written from the seed system's documented fields, and nothing else of ours."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from email.message import Message
from typing import Any, NamedTuple

RESPONSE_FIELDS = {"kernel_name", "compile_ok", "run_ok", "match_ok", "speedup", "reason", "stats", "timing"}
BATCH_FIELDS = {"responses", "total_time", "batch_size"}
EVALUATE_FIELDS = {
    "compiled",
    "correct",
    "speedup",
    "latency_ms",
    "baseline_latency_ms",
    "feedback",
    "error_type",
    "diagnostics",
}


class Answer(NamedTuple):
    """An HTTP answer."""

    status: int
    body: Any
    headers: Message


class SeedClient:
    """What an RL loop has that was written for the seed system."""

    def __init__(self, address: str, token: str = "") -> None:
        self.address = address
        self._url = f"http://{address}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def run_code_batch(self, kernels: list[dict[str, Any]]) -> Answer:
        """`POST /run_code_batch`."""
        return self.post("/run_code_batch", kernels)

    def patiently(self, kernels: list[dict[str, Any]], tries: int = 10) -> Answer:
        """`POST /run_code_batch` until it is not 503, as late each time as the answer says."""
        answer = self.run_code_batch(kernels)
        for _ in range(tries):
            if answer.status != 503:
                break
            time.sleep(int(answer.headers["Retry-After"]))
            answer = self.run_code_batch(kernels)
        return answer

    def evaluate(self, code: str, filename: str, **fields: Any) -> Answer:
        """`POST /evaluate`."""
        return self.post("/evaluate", {"protocol_version": 1, "code": code, "filename": filename, **fields})

    def health(self) -> Answer:
        """`GET /health`."""
        return self._send(urllib.request.Request(f"{self._url}/health"))

    def post(self, path: str, content: Any) -> Answer:
        """A request with a body, as JSON unless it is bytes."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        headers = {"Content-Type": "application/json", **self._headers}
        return self._send(urllib.request.Request(f"{self._url}{path}", data, headers))

    def _send(self, request: urllib.request.Request) -> Answer:
        try:
            with urllib.request.urlopen(request, timeout=150) as response:
                return Answer(response.status, json.loads(response.read()), response.headers)
        except urllib.error.HTTPError as error:
            return Answer(error.code, json.loads(error.read() or b"null"), error.headers)


def kernel(name: str, hip_code: str, module: str, **fields: Any) -> dict[str, Any]:
    """A request of `/run_code_batch` with every documented field."""
    return {
        "kernel_name": name,
        "hip_code": hip_code,
        "hip_ref_code": None,
        "pytorch_module_code": module,
        "pytorch_functional_code": None,
        "atol": 1e-4,
        "rtol": 1e-4,
        "compile_timeout_s": 60,
        "run_timeout_s": 60,
        **fields,
    }
