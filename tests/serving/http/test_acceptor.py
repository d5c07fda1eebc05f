from __future__ import annotations

import asyncio
import os
import select
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from birthmark.serving.http.acceptor import Acceptor
from birthmark.serving.limits.limits import READY, Limits
from birthmark.serving.settings import Settings
from birthmark_native import Acceptor as NativeAcceptor


class Receiver(asyncio.Protocol):
    """Collects the data received."""

    handshake: Any = None

    def __init__(self, received: list[bytes]) -> None:
        self._all = received

    def data_received(self, data: bytes) -> None:
        self._all.append(data)


def limits(**settings: Any) -> Limits:
    return Limits(Settings(**settings), connections=100, count_shed=lambda requests: None)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.001)


def is_ready(acceptor: Acceptor) -> bool:
    """Return whether a connection gets ready within a time."""
    return select.select([acceptor._native.fileno()], [], [], 20)[0] != []


def test_closing_still_accepts_connections_that_have_sent_data() -> None:
    async def received() -> list[bytes]:
        received_data: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            acceptor = Acceptor(listener, lambda: Receiver(received_data), limits(), None)  # type: ignore[arg-type,return-value]
            with socket.create_connection(listener.getsockname()) as client:
                client.sendall(b"x")
                assert is_ready(acceptor)
                acceptor.close()
                await until(lambda: received_data != [])
        return received_data

    assert asyncio.run(received()) == [b"x"]


def test_at_most_the_queued_requests_are_accepted_at_once() -> None:
    async def take_ready() -> tuple[int, int]:
        received_data: list[bytes] = []
        mine = limits(max_requests=4)
        mine.queued = 4
        with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
            acceptor = Acceptor(listener, lambda: Receiver(received_data), mine, None)  # type: ignore[arg-type,return-value]
            for _ in range(READY * 4):
                client = stack.enter_context(socket.create_connection(listener.getsockname()))
                client.sendall(b"x")
            assert is_ready(acceptor)
            await asyncio.sleep(0)  # the loop handles it
            await asyncio.sleep(0)
            before = len(received_data)
            mine.queued = 0
            await until(lambda: len(received_data) == READY * 4)
            acceptor.close()
        return before, len(received_data)

    assert asyncio.run(take_ready()) == (0, READY * 4)


def test_a_busy_host_keeps_no_other_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
        address = listener.getsockname()
        acceptor = NativeAcceptor(listener.dup().detach(), 100, 4, 20.0, b"busy", tls=False)
        stack.callback(acceptor.close)

        def client(source: str) -> socket.socket:
            own = socket.create_connection(address, 20, source_address=(source, 0))
            own.sendall(b"x")
            return stack.enter_context(own)

        for _ in range(10):
            client("127.0.0.1")
        refused = 0
        while refused < 6:
            refused += acceptor.take_refused()
        client("127.0.0.2")
        while refused < 7:
            refused += acceptor.take_refused()
        received_data = acceptor.take_ready(10)
        addresses = [own for descriptor, own in received_data if os.close(descriptor) is None]
        assert sorted(map(addresses.count, set(addresses))) == [1, 3]


def test_a_closed_acceptor_raises_errors() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        acceptor = NativeAcceptor(listener.dup().detach(), 10, 1, 1.0, b"", tls=False)
        acceptor.close()
        acceptor.close()
        with pytest.raises(ValueError, match="it is closed"):
            acceptor.take_ready(1)


def test_an_invalid_descriptor_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a file descriptor"):
        NativeAcceptor(-1, 10, 1, 1.0, b"", tls=False)
