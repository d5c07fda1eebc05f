"""Under which names, and from which pages, something may be changed.

A web page can make a browser on this host, or near it, send requests here. It cannot make it say
that they come from nowhere (``Origin``), nor send JSON or Arrow as such, unless its own name leads
here (DNS rebinding): then ``Host`` is that name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from birthmark.serving.messages.errors import ApiError

_VALID = re.compile(rb"(?:[A-Za-z0-9._~%!$&'()*+,;=-]*|\[[A-Za-z0-9:.%-]+\])(?::[0-9]*)?")
_SENT_AS = re.compile(rb"application/(?:json|vnd\.apache\.arrow\.stream)\s*(?:;.*)?", re.IGNORECASE)


@lru_cache(maxsize=256)
def is_valid(host: bytes) -> bool:
    """Tell whether a ``Host`` field's value may be one (RFC 9110 section 7.2)."""
    return _VALID.fullmatch(host) is not None


class Changes:
    """Lets requests pass that may change something here.

    `known` are the names of this service besides those of loopback; by an address that a
    connection was made to it may be called as well.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = {"localhost", *(name.lower().rstrip(".") for name in known)}

    def check(self, headers: Collection[tuple[bytes, bytes]], server: str | None) -> None:
        """Raise `ApiError` for a request that a web page may have made; `server`: whom it reached.

        None is a Unix socket, which no web page reaches.
        """
        fields = dict(headers)
        name = _name(fields.get(b"host", b""))
        if server is not None and name not in self._known and not _is_at(name, server):
            what = f"expected a Host that this service is known by, found {name[:200]!r}"
            raise ApiError("unknown_host", f"{what} (see --known-hosts)")
        refuse_foreign(headers)
        if not _SENT_AS.fullmatch(fields.get(b"content-type", b"")):
            raise ApiError("not_json", "expected Content-Type: application/json, or Arrow's")


def refuse_foreign(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise `ApiError` for a request that a page of another host has made (RFC 6454 section 7)."""
    fields = dict(headers)
    origin = fields.get(b"origin")
    if origin is None:
        return
    host = fields.get(b"host", b"").lower()
    if not host or origin.lower().partition(b"://")[2] != host:
        raise ApiError("foreign_origin", "expected no Origin but this service's own")


def _name(host: bytes) -> str:
    """Return the name, or number, in a ``Host`` field's value."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def _is_at(name: str, server: str) -> bool:
    """Tell whether a name is a number, of loopback or of the address that was connected to."""
    try:
        number = ipaddress.ip_address(name)
        return number.is_loopback or number == ipaddress.ip_address(server.partition("%")[0])
    except ValueError:
        return False
