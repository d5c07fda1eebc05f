"""HTTP answers parsed from a connection."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """One answer: its status, its header fields by small names, and its body."""

    status: int
    fields: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        """The type of its error."""
        kind: str = json.loads(self.body)["error"]["type"]
        return kind

    def json(self) -> Any:
        """Return its body, parsed."""
        return json.loads(self.body)


def read(connection: socket.socket, many: int | None = None) -> list[Answer]:
    """Read `many` answers, or all until the connection is closed."""
    answers: list[Answer] = []
    received = b""
    while many is None or len(answers) < many:
        while (answer := _first(received)) is not None and len(answers) != many:
            answers.append(answer[0])
            received = received[answer[1] :]
        if len(answers) == many:
            break
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            piece = b""
        if not piece:
            break
        received += piece
    assert received == b"", received
    return answers


def _first(received: bytes) -> tuple[Answer, int] | None:
    """Return the first answer in the data, and its length; None if it is not complete."""
    head, parted, _ = received.partition(b"\r\n\r\n")
    if not parted:
        return None
    line, *lines = head.decode("latin-1").split("\r\n")
    fields = {
        name.lower(): value.strip() for name, _, value in (each.partition(":") for each in lines)
    }
    end = len(head) + 4 + int(fields.get("content-length", "0"))
    if len(received) < end:
        return None
    return Answer(int(line.split()[1]), fields, received[len(head) + 4 : end]), end
