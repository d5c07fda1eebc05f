"""Clients that send requests without a pause, and remember every different answer."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.synchronize import Event, Semaphore
from typing import Any

from tests.faults.commands import CONTEXT

Address = tuple[str, int]

RECONNECT = 200
"""Requests on a connection before a client opens another, which any worker may accept."""


@dataclass
class Responses:
    """The responses to a client: the count of each status and body, and connection errors."""

    answers: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def requests(self) -> int:
        """The number of answers."""
        return self.answers.total()

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.requests / self.seconds


def post(connection: socket.socket, path: str, body: bytes) -> tuple[int, bytes]:
    """Send a request on a persistent connection; return the answer's status and body."""
    request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{request}content-length: {len(body)}\r\n\r\n".encode() + body)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, content = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    while len(content) < int(fields[b"content-length"]):
        content += _more(connection)
    return int(head.split()[1]), content


def _more(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ConnectionResetError("closed before the answer was complete")
    return piece


def _ask(address: Address, path: str, body: bytes, begun: Semaphore, over: Event, out: Any) -> None:
    responses, began = Responses(), time.monotonic()
    while not over.is_set():
        try:
            with socket.create_connection(address, timeout=30) as connection:
                for _ in range(RECONNECT):
                    responses.answers[post(connection, path, body)] += 1
                    if responses.requests == 1:
                        begun.release()
                    if over.is_set():
                        break
        except OSError as error:
            responses.broken[type(error).__name__] += 1
            over.wait(0.01)
    responses.seconds = time.monotonic() - began
    out.put((path, responses))


@contextmanager
def asking(address: Address, bodies: dict[str, bytes]) -> Iterator[dict[str, Responses]]:
    """Send requests to each path, in separate processes, during the block.

    The dictionary has the responses by path after the block.
    """
    begun, over, out = CONTEXT.Semaphore(0), CONTEXT.Event(), CONTEXT.Queue()
    responses: dict[str, Responses] = {}
    clients = [
        CONTEXT.Process(target=_ask, args=(address, path, body, begun, over, out))
        for path, body in bodies.items()
    ]
    for client in clients:
        client.start()
    try:
        assert all(begun.acquire(timeout=60) for _ in clients)
        yield responses
    finally:
        over.set()
        responses |= dict(out.get(timeout=60) for _ in clients)
        for client in clients:
            client.join(60)
            client.kill()


def ask(address: Address, path: str, body: bytes) -> tuple[int, bytes]:
    """Send one request on a new connection."""
    with socket.create_connection(address, timeout=30) as connection:
        return post(connection, path, body)


def version(answer: bytes) -> str:
    """Return the version in an answer."""
    return str(json.loads(answer)["model"])
