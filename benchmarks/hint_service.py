"""A service's hints for creates that wait: what ``birthmark_native.Hook`` calls, over HTTP."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import httpx

from birthmark_native.results import AskedCreate


class HintService:
    """Asks ``POST /v1/hints`` at a Unix socket, over one connection that is kept."""

    def __init__(self, path: Path | str) -> None:
        """Connect when it is first asked."""
        transport = httpx.HTTPTransport(uds=str(path))
        self._http = httpx.Client(transport=transport, base_url="http://service")

    def __call__(self, create: AskedCreate, seconds: float) -> int:
        """Return the bits of the verdict.

        Raises ``TimeoutError`` where there is none within so many seconds, ``ConnectionError``
        where nobody listens, and ``ValueError`` where what is said is none.
        """
        try:
            answer = self._http.post("/v1/hints", json=_body(create), timeout=max(seconds, 1e-6))
        except httpx.TimeoutException as error:
            raise TimeoutError(str(error)) from error
        except httpx.TransportError as error:
            raise ConnectionError(str(error)) from error
        if answer.status_code != httpx.codes.OK:
            raise ValueError(f"expected status 200, found {answer.status_code}")
        bits = answer.json()
        if type(bits) is not int:
            raise ValueError(f"expected the bits of a verdict, found {bits!r}")
        return bits


def _body(create: AskedCreate) -> dict[str, str | int | bool]:
    """Return what the service is asked. Only the hour of the time is known, not the day."""
    name, is_directory, (mode, uid, gid), hour = create
    body = {
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
