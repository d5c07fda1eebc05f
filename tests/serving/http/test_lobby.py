from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from birthmark.serving.http.lobby import READY, Lobby
from birthmark.serving.limits.limits import Limits
from birthmark.serving.settings import Settings
from birthmark_native import Lobby as Taking


class Heard(asyncio.Protocol):
    """Keeps what is said, and since when it was known who arrives."""

    arriving: Any = None

    def __init__(self, all_heard: list[bytes]) -> None:
        self._all = all_heard

    def data_received(self, data: bytes) -> None:
        self._all.append(data)


def limits(**settings: Any) -> Limits:
    return Limits(Settings(**settings), connections=100, shed=lambda requests: None)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():
            await asyncio.sleep(0.001)


def rings(lobby: Lobby) -> bool:
    """Tell whether somebody is ready to be let in, within a time."""
    return select.select([lobby._taking.fileno()], [], [], 20)[0] != []


def test_who_has_said_something_is_still_let_in_when_it_is_closed() -> None:
    async def heard() -> list[bytes]:
        found: list[bytes] = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            lobby = Lobby(listener, lambda: Heard(found), limits(), None)  # type: ignore[arg-type,return-value]
            with socket.create_connection(listener.getsockname()) as guest:
                guest.sendall(b"x")
                assert rings(lobby)
                lobby.close()
                await until(lambda: found != [])
        return found

    assert asyncio.run(heard()) == [b"x"]


def test_no_more_are_let_in_than_may_wait_and_others_when_those_are_begun() -> None:
    async def let_in() -> tuple[int, int]:
        found: list[bytes] = []
        mine = limits(max_requests=4)
        mine.queued = 4
        with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as stack:
            lobby = Lobby(listener, lambda: Heard(found), mine, None)  # type: ignore[arg-type,return-value]
            for _ in range(READY * 4):
                guest = stack.enter_context(socket.create_connection(listener.getsockname()))
                guest.sendall(b"x")
            assert rings(lobby)
            await asyncio.sleep(0)  # the loop hears it
            await asyncio.sleep(0)
            before = len(found)
            mine.queued = 0
            await until(lambda: len(found) == READY * 4)
            lobby.close()
        return before, len(found)

    assert asyncio.run(let_in()) == (0, READY * 4)


def test_it_answers_nothing_more_once_it_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taking = Taking(listener.dup().detach(), 10, 1, 1.0, b"")
        taking.close()
        taking.close()
        with pytest.raises(ValueError, match="it is closed"):
            taking.let_in(1)


def test_what_is_no_socket_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a file descriptor"):
        Taking(-1, 10, 1, 1.0, b"")
