"""Clients of the service, for programs that predict at every create: they neither block nor fail.

Without a valid answer in time, the result is *no* with ``answered`` false. After consecutive
failures a client pauses its requests (`serving.client.breaker`).
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

import httpx

from birthmark.serving.address import URL
from birthmark.serving.client import questions
from birthmark.serving.client.breaker import Breaker
from birthmark.serving.client.questions import (
    Attributes,
    Hint,
    Known,
    Name,
    Prediction,
    Predictions,
    Question,
)

if TYPE_CHECKING:
    import pyarrow as pa

DEADLINE = 0.05
"""The default deadline of a call for predictions or hints, seconds."""

PATIENCE = 30.0
"""The default deadline of a call for an explanation, seconds: people wait for it."""

_IDLE_SECONDS = 60.0  # less than the service's, which could close a connection in use
_CLOSING_SECONDS = 1.0
_MOST_BYTES = 64 * 1024 * 1024  # far more than the largest answer
_Answer = TypeVar("_Answer")
_Reply = TypeVar("_Reply", Prediction, Predictions, Hint)
_Result = TypeVar("_Result")


class ServiceError(Exception):
    """The service sent an error, or no answer.

    `status`, `type`, `field` and `value` are members of the error (``docs/serving.md``), and None
    if the service sent none.
    """

    def __init__(
        self, message: str, status: int | None = None, error: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        members = error or {}
        self.type: str | None = members.get("type")
        self.field: str | None = members.get("field")
        self.value: Any = members.get("value")


class AsyncClient:
    """A client for programs on asyncio. It keeps connections open; close it at the end.

    Parameters
    ----------
    url : of the service: ``http://…``, ``https://…`` or ``unix:PATH``.
    token : sent with each request, if the service needs one.
    deadline : of a prediction or a hint, from the call to its return, seconds.
    certificates : file of the certificates to trust for HTTPS, PEM; else the system's.

    """

    def __init__(
        self,
        url: str = URL,
        *,
        token: str | None = None,
        deadline: float = DEADLINE,
        certificates: Path | None = None,
    ) -> None:
        self.deadline = deadline
        self._breaker = Breaker()
        self._http = _connections(url, token, certificates)
        self._tasks: set[asyncio.Task[tuple[int, bytes]]] = set()
        self._at = _without_password(url)

    def __repr__(self) -> str:
        return f"<AsyncClient of {self._at}>"

    # The next three are not `async def`, so that their deadline starts at the call, not when the
    # loop runs them.

    def predict(
        self, name: Name, *, deadline: float | None = None, **known: Unpack[Known]
    ) -> Coroutine[Any, Any, Prediction]:
        """Predict what a file that is being created will become."""
        end = self._end(deadline)
        return self._answered(questions.prediction(name, known), end, Prediction(False))

    def predict_many(
        self,
        files: pa.Table | Sequence[Name],
        *,
        three: bool = False,
        deadline: float | None = None,
    ) -> Coroutine[Any, Any, Predictions]:
        """Predict what up to 10,000 files will become, by one version of the model.

        With `three`, the result distinguishes no from unsure and has probabilities. A table has the
        columns that ``docs/serving.md`` lists. Raises ValueError for more files.
        """
        end = self._end(deadline)
        question, rows = questions.predictions(files, three)
        return self._answered(question, end, Predictions(False, rows))

    def hint(
        self,
        name: Name,
        *,
        is_directory: bool = False,
        deadline: float | None = None,
        **known: Unpack[Attributes],
    ) -> Coroutine[Any, Any, Hint]:
        """Predict whether a file or directory that is being created will be hot."""
        end = self._end(deadline)
        return self._answered(questions.hint(name, is_directory, known), end, Hint(False))

    async def explain(
        self, name: Name, *, deadline: float = PATIENCE, **known: Unpack[Known]
    ) -> dict[str, Any]:
        """Explain a prediction, for people; raise `ServiceError` without an answer."""
        return await self._send(questions.explanation(name, known), self._end(deadline))

    async def model(self, *, deadline: float = PATIENCE) -> dict[str, Any]:
        """Describe the current model; raise `ServiceError` without an answer."""
        return await self._send(questions.model(), self._end(deadline))

    async def close(self) -> None:
        """Close the connections; wait a moment for pending requests."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    def _end(self, deadline: float | None) -> float:
        return time.monotonic() + (self.deadline if deadline is None else deadline)

    async def _answered(self, question: Question[_Reply], end: float, nothing: _Reply) -> _Reply:
        """Return the answer; without one, `nothing` with the reason."""
        try:
            return await self._ask(question, end)
        except ServiceError as error:
            return replace(nothing, why=str(error))

    async def _ask(self, question: Question[_Answer], end: float) -> _Answer:
        """Return the answer, if the breaker lets the question through; report to the breaker."""
        if not self._breaker.may_ask():
            raise ServiceError("not sent: earlier requests got no answers")
        try:
            answer = await self._send(question, end)
        except ServiceError as error:
            # An error in the request was answered, so the service is there.
            if error.type is not None and error.status is not None and error.status < 500:
                self._breaker.succeeded()
            else:
                self._breaker.failed()
            raise
        self._breaker.succeeded()
        return answer

    async def _send(self, question: Question[_Answer], end: float) -> _Answer:
        """Return the answer if it comes by `end`, else raise `ServiceError`."""
        left = max(end - time.monotonic(), 0)
        try:
            status, body = await self._in_time(question, left)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ServiceError(f"no answer in time ({left:.3g} s)") from error
        except (httpx.HTTPError, OSError) as error:
            raise ServiceError(f"no answer: {str(error) or type(error).__name__}") from error
        if status != 200:
            raise _error(status, body)
        try:
            return question.read(body)
        except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
            raise ServiceError(f"the answer cannot be read: {error}", status) from error

    async def _in_time(self, question: Question[Any], left: float) -> tuple[int, bytes]:
        """Return the answer's status and body; raise TimeoutError if they take longer.

        A late request is cancelled only after twice the time more: a connection that is cancelled
        while it is made would stay open.
        """
        if not left:
            raise TimeoutError
        task = asyncio.create_task(self._exchange(question, left))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        try:
            done, _ = await asyncio.wait({task}, timeout=left)
        finally:
            if not task.done():
                asyncio.get_running_loop().call_later(2 * left, task.cancel)
        if not done:
            raise TimeoutError
        return task.result()

    def _ended(self, task: asyncio.Task[tuple[int, bytes]]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it

    async def _exchange(self, question: Question[Any], left: float) -> tuple[int, bytes]:
        method = "GET" if question.body is None else "POST"
        headers = {"content-type": question.media_type}
        request = self._http.stream(
            method, question.path, content=question.body, headers=headers, timeout=left
        )
        async with request as response:
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise httpx.DecodingError(f"more than {_MOST_BYTES} bytes")
            return response.status_code, bytes(body)


def _connections(url: str, token: str | None, certificates: Path | None) -> httpx.AsyncClient:
    """Return the connection pool for `url`; raise ValueError if that is invalid."""
    unix = url.removeprefix("unix:") if url.startswith("unix:") else None
    base = "http://localhost" if unix else url
    scheme = httpx.URL(base).scheme
    if scheme not in ("http", "https"):
        raise ValueError(f"{url}: expected http://…, https://… or unix:PATH")
    verify: ssl.SSLContext | bool = False
    if scheme == "https":
        verify = ssl.create_default_context(cafile=certificates)
    headers = {"accept-encoding": "identity"}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    limits = httpx.Limits(keepalive_expiry=_IDLE_SECONDS)
    # No proxies: the service is near, and the deadline short.
    transport = httpx.AsyncHTTPTransport(verify=verify, uds=unix, limits=limits, trust_env=False)
    return httpx.AsyncClient(base_url=base, headers=headers, transport=transport, trust_env=False)


def _without_password(url: str) -> str:
    return url if url.startswith("unix:") else str(httpx.URL(url).copy_with(userinfo=b""))


def _error(status: int, body: bytes) -> ServiceError:
    """Return the error in an answer."""
    try:
        error = json.loads(body)["error"]
        return ServiceError(f"{status} {error['type']}: {error['message']}", status, error)
    except (ValueError, KeyError, TypeError, RecursionError):
        return ServiceError(f"the answer's status is {status}", status)


class Client:
    """A client for any program, which all its threads may use; see `AsyncClient`.

    A background thread holds the connections, so that the deadline covers the whole call, including
    slow name lookups and slow answers.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        token: str | None = None,
        deadline: float = DEADLINE,
        certificates: Path | None = None,
    ) -> None:
        self._client = AsyncClient(url, token=token, deadline=deadline, certificates=certificates)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._at = _without_password(url)

    def __repr__(self) -> str:
        return f"<Client of {self._at}>"

    def predict(
        self, name: Name, *, deadline: float | None = None, **known: Unpack[Known]
    ) -> Prediction:
        """Predict what a file that is being created will become."""
        return self._run(self._client.predict(name, deadline=deadline, **known))

    def predict_many(
        self,
        files: pa.Table | Sequence[Name],
        *,
        three: bool = False,
        deadline: float | None = None,
    ) -> Predictions:
        """Predict what up to 10,000 files will become, by one version of the model.

        With `three`, the result distinguishes no from unsure and has probabilities. A table has the
        columns that ``docs/serving.md`` lists. Raises ValueError for more files.
        """
        return self._run(self._client.predict_many(files, three=three, deadline=deadline))

    def hint(
        self,
        name: Name,
        *,
        is_directory: bool = False,
        deadline: float | None = None,
        **known: Unpack[Attributes],
    ) -> Hint:
        """Predict whether a file or directory that is being created will be hot."""
        request = self._client.hint(name, is_directory=is_directory, deadline=deadline, **known)
        return self._run(request)

    def explain(
        self, name: Name, *, deadline: float = PATIENCE, **known: Unpack[Known]
    ) -> dict[str, Any]:
        """Explain a prediction, for people; raise `ServiceError` without an answer."""
        return self._run(self._client.explain(name, deadline=deadline, **known))

    def model(self, *, deadline: float = PATIENCE) -> dict[str, Any]:
        """Describe the current model; raise `ServiceError` without an answer."""
        return self._run(self._client.model(deadline=deadline))

    def close(self) -> None:
        """Close the connections, and end the thread."""
        if self._loop.is_closed():
            return
        self._run(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise
