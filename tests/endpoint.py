"""A real HTTP server that behaves as an OpenAI-compatible endpoint, for tests."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

# Status, headers, body.
Answer = tuple[int, dict[str, str], bytes]


def completion(text: str | None, *, usage: bool = True, finish_reason: str = "stop") -> Answer:
    """A chat completion as vLLM gives it."""
    body: dict[str, Any] = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text}},
        ],
    }
    if usage:
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return 200, {}, json.dumps(body).encode()


def failure(status: int, **headers: str) -> Answer:
    """An error as OpenAI gives it."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": f"status {status}"}}).encode()


class FakeEndpoint:
    """Answers the n-th request with the n-th answer, the last one for ever; None keeps the request waiting."""

    def __init__(self, *answers: Answer | Callable[[dict[str, Any]], Answer | None] | None) -> None:
        self._answers = list(answers)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.hung_up = asyncio.Event()
        self.asked = asyncio.Event()
        self.url = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[FakeEndpoint]:
        """Serves on a free port."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    int(line[15:]) for line in head.lower().splitlines() if line.startswith("content-length:")
                )
                self.headers.append(head)
                self.bodies.append(json.loads(await reader.readexactly(length)))
                self.asked.set()
                answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
                answer = answer(self.bodies[-1]) if callable(answer) else answer
                if answer is None:
                    await reader.read()
                    self.hung_up.set()
                    break
                status, headers, body = answer
                lines = {"content-type": "application/json", "content-length": str(len(body)), **headers}
                text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
                writer.write(f"HTTP/1.1 {status} X\r\n{text}\r\n".encode() + body)
                await writer.drain()
        writer.close()
