"""A service's hints for creates that wait: what ``_native.Hook`` calls, over HTTP."""

from __future__ import annotations

import json
import socket
import weakref
from base64 import b64encode
from http.client import HTTPConnection, HTTPException, RemoteDisconnected
from pathlib import Path

from birthmark.layout_hint import AskedCreate


class HintService:
    """Asks ``POST /v1/hints`` at a Unix socket, over one persistent connection."""

    def __init__(self, path: Path | str) -> None:
        """Connect when it is first asked."""
        self._connection = _UnixConnection(str(path))
        weakref.finalize(self, self._connection.close)

    def __call__(self, create: AskedCreate, seconds: float) -> int:
        """Return the bits of the verdict.

        Raises ``TimeoutError`` where there is none within so many seconds, another ``OSError``
        where nobody listens, and ``ValueError`` for a malformed answer.
        """
        body, remaining = json.dumps(_body(create)), self._connection.sock is not None
        try:
            return self._asked(body, seconds)
        except (RemoteDisconnected, BrokenPipeError):
            if not remaining:
                raise
            return self._asked(body, seconds)  # it was closed since; to ask twice does no harm

    def _asked(self, body: str, seconds: float) -> int:
        connection = self._connection
        connection.wait(max(seconds, 1e-6))
        try:
            connection.request("POST", "/v1/hints", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = response.read()
        except (OSError, HTTPException) as error:
            connection.close()
            if isinstance(error, OSError):
                raise
            raise ValueError(f"expected an answer in HTTP: {error}") from error
        bits = json.loads(answer)
        if response.status != 200 or type(bits) is not int:
            raise ValueError(f"expected status 200 and a verdict, found {response.status}")
        return bits


class _UnixConnection(HTTPConnection):
    """A connection to a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def wait(self, seconds: float) -> None:
        """Limit the time of the next call."""
        self.timeout = seconds
        if self.sock is not None:
            self.sock.settimeout(seconds)

    def connect(self) -> None:
        """Connect; `close` closes what could not be connected, too."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _body(create: AskedCreate) -> dict[str, str | int | bool]:
    """Return the request to the service. Only the hour of the time is known, not the day."""
    name, is_directory, (mode, uid, gid), hour = create
    body: dict[str, str | int | bool | None] = {
        "is_directory": is_directory,
        "mode": None if mode is None else mode & 0o7777,
        "uid": uid,
        "gid": gid,
        "time": None if hour is None else f"1970-01-01T{hour:02}:00:00Z",
    }
    if name is not None:
        try:
            body["name"] = name.decode()
        except UnicodeDecodeError:
            body["name_base64"] = b64encode(name).decode()
    return {member: value for member, value in body.items() if value is not None}
