"""Protection of requests that change something against cross-site requests and DNS rebinding.

A web page can make a browser send requests here. Such a request has an ``Origin``, and cannot have
the content type of JSON or Arrow, unless the page's name resolves to this host (DNS rebinding).
Then ``Host`` is that name.
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
    """Return whether the value of a ``Host`` field is well-formed (RFC 9110 section 7.2)."""
    return _VALID.fullmatch(host) is not None


class ChangeGuard:
    """Checks the requests that change something.

    `known` are the names of this service besides those of loopback. The address that a connection
    was made to is valid, too.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = {"localhost", *(name.lower().rstrip(".") for name in known)}

    def check(self, headers: Collection[tuple[bytes, bytes]], server: str | None) -> None:
        """Raise `ApiError` for a request that a web page may have made.

        `server` is the local address; None is a Unix socket, which no web page reaches.
        """
        fields = dict(headers)
        name = _name(fields.get(b"host", b""))
        if server is not None and name not in self._known and not _is_at(name, server):
            what = f"expected a Host that is a name of this service, found {name[:200]!r}"
            raise ApiError("unknown_host", f"{what} (see --known-hosts)")
        refuse_foreign(headers)
        if not _SENT_AS.fullmatch(fields.get(b"content-type", b"")):
            raise ApiError("not_json", "expected Content-Type: application/json, or Arrow's")


def refuse_foreign(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise `ApiError` for a request from another host's page (RFC 6454 section 7)."""
    fields = dict(headers)
    origin = fields.get(b"origin")
    if origin is None:
        return
    host = fields.get(b"host", b"").lower()
    if not host or origin.lower().partition(b"://")[2] != host:
        raise ApiError("foreign_origin", "expected no Origin but this service's own")


def _name(host: bytes) -> str:
    """Return the name or address in the value of a ``Host`` field."""
    text = host.decode("latin-1").lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].rstrip(".")


def _is_at(name: str, server: str) -> bool:
    """Return whether a name is an address, of loopback or of the `server`."""
    try:
        address = ipaddress.ip_address(name)
        return address.is_loopback or address == ipaddress.ip_address(server.partition("%")[0])
    except ValueError:
        return False
