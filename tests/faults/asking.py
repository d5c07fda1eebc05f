"""Clients that ask without a pause, and remember every different answer."""

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
"""After so many requests a client opens another connection, which any worker may take."""


@dataclass
class Told:
    """What a client was told: how often each status and body, and what went wrong on the way."""

    answers: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def requests(self) -> int:
        """How many were answered."""
        return self.answers.total()

    @property
    def rate(self) -> float:
        """How many were answered in a second."""
        return self.requests / self.seconds


def post(connection: socket.socket, path: str, body: bytes) -> tuple[int, bytes]:
    """Ask on a connection that stays open; return the answer's status and body."""
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    told, _, content = received.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in told.split(b"\r\n")[1:])
    while len(content) < int(fields[b"content-length"]):
        content += _more(connection)
    return int(told.split()[1]), content


def _more(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ConnectionResetError("closed before the answer was complete")
    return piece


def _ask(address: Address, path: str, body: bytes, begun: Semaphore, over: Event, out: Any) -> None:
    told, began = Told(), time.monotonic()
    while not over.is_set():
        try:
            with socket.create_connection(address, timeout=30) as connection:
                for _ in range(RECONNECT):
                    told.answers[post(connection, path, body)] += 1
                    if told.requests == 1:
                        begun.release()
                    if over.is_set():
                        break
        except OSError as error:
            told.broken[type(error).__name__] += 1
            over.wait(0.01)
    told.seconds = time.monotonic() - began
    out.put((path, told))


@contextmanager
def asking(address: Address, bodies: dict[str, bytes]) -> Iterator[dict[str, Told]]:
    """Ask each path, in a process of its own, for as long as the block lasts.

    What was told is in the dictionary, by path, once that has ended.
    """
    begun, over, out = CONTEXT.Semaphore(0), CONTEXT.Event(), CONTEXT.Queue()
    told: dict[str, Told] = {}
    clients = [
        CONTEXT.Process(target=_ask, args=(address, path, body, begun, over, out))
        for path, body in bodies.items()
    ]
    for client in clients:
        client.start()
    try:
        assert all(begun.acquire(timeout=60) for _ in clients)
        yield told
    finally:
        over.set()
        told |= dict(out.get(timeout=60) for _ in clients)
        for client in clients:
            client.join(60)
            client.kill()


def ask(address: Address, path: str, body: bytes) -> tuple[int, bytes]:
    """Ask once, on a connection of its own."""
    with socket.create_connection(address, timeout=30) as connection:
        return post(connection, path, body)


def version(answer: bytes) -> str:
    """Return the version that an answer names."""
    return str(json.loads(answer)["model"])
