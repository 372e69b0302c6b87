"""One OpenAI-compatible endpoint: a completion with retries, every failure as an error of ours."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import tenacity

from kernelvault import errors
from svc_generator.prompts.assemble import Message

if TYPE_CHECKING:
    import openai

_MOST_RETRY_AFTER_S = 120.0
Sleep = Callable[[float], Awaitable[None]]


@dataclasses.dataclass(frozen=True)
class Reply:
    """What a model answered. Counts are the endpoint's; None where it gives none."""

    text: str
    cut_off: bool
    prompt_tokens: int | None
    completion_tokens: int | None


class Endpoint:
    """Asks for chat completions. 429, 5xx, garbage and broken connections are tried again, as Retry-After says."""

    def __init__(self, connect: Callable[[], openai.AsyncOpenAI], *, attempts: int, sleep: Sleep) -> None:
        """`connect` makes a client that does not retry by itself; `sleep` takes seconds."""
        self._connect = connect
        self._client: asyncio.Future[openai.AsyncOpenAI] | None = None
        self._attempts = attempts
        self._sleep = sleep

    async def complete(self, model: str, messages: list[Message], options: dict[str, Any]) -> Reply:
        """One completion.

        Raises errors.Unavailable after the last try; NotFound for an unknown model, FailedPrecondition
        (`MODEL_DENIED`) for a wrong key, InvalidArgument (`MODEL_REFUSED`) where the endpoint refuses the request.
        Cancelling closes the connection, on which the endpoint stops.
        """
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(errors.Unavailable),
            wait=_wait,
            stop=tenacity.stop_after_attempt(self._attempts),
            sleep=self._sleep,
            reraise=True,
        )
        reply: Reply = await retrying(self._once, model, messages, options)
        return reply

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await (await self._client).close()

    async def _connected(self) -> openai.AsyncOpenAI:
        """The client, made in a thread when it is first needed: its import takes half a second."""
        if self._client is None:
            self._client = asyncio.ensure_future(asyncio.to_thread(self._connect))
        return await asyncio.shield(self._client)

    async def _once(self, model: str, messages: list[Message], options: dict[str, Any]) -> Reply:
        client = await self._connected()
        import openai

        where = client.base_url
        body: dict[str, Any] = {"model": model, "messages": messages, **options}
        try:
            answer = await client.chat.completions.create(**body)
            return _reply(answer)
        except openai.APIStatusError as error:
            raise _of_status(error, model) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise errors.Unavailable("MODEL_UNREACHABLE", f"failed to reach {where}: {cause}") from error
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            message = f"failed to read the answer of {where}: {type(error).__name__}: {str(error)[:200]}"
            raise errors.Unavailable("MODEL_GARBLED", message) from error


def _reply(answer: Any) -> Reply:
    choice = answer.choices[0]
    usage = answer.usage
    content = choice.message.content
    if content is not None and not isinstance(content, str):
        raise TypeError(f"`content` is {type(content).__name__}")
    return Reply(
        text=content or "",
        cut_off=choice.finish_reason == "length",
        prompt_tokens=int(usage.prompt_tokens) if usage else None,
        completion_tokens=int(usage.completion_tokens) if usage else None,
    )


def _of_status(error: openai.APIStatusError, model: str) -> errors.Error:
    status, text = error.status_code, f"the endpoint answered {error.status_code}: {error.message[:500]}"
    if status == 429 or status >= 500 or status in (408, 409):
        return errors.Unavailable("MODEL_BUSY", text, _retry_after_s(error))
    if status in (401, 403):
        return errors.FailedPrecondition("MODEL_DENIED", f"{text}; check KERNELVAULT_OPENAI_API_KEY")
    if status == 404:
        return errors.NotFound("MODEL_NOT_FOUND", f"model {model!r}: {text}")
    return errors.InvalidArgument("", text, "MODEL_REFUSED")


def _retry_after_s(error: openai.APIStatusError) -> float:
    """Retry-After in seconds; 0 where there is none, or a date."""
    try:
        return min(_MOST_RETRY_AFTER_S, max(0.0, float(error.response.headers.get("retry-after", ""))))
    except ValueError:
        return 0.0


_backoff = tenacity.wait_exponential(multiplier=0.5, max=20.0) + tenacity.wait_random(0, 0.5)


def _wait(state: tenacity.RetryCallState) -> float:
    """What the endpoint asks for, else an exponential backoff with jitter."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_s if isinstance(error, errors.Unavailable) and error.reason == "MODEL_BUSY" else 0.0
    return asked or _backoff(state)
