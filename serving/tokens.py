"""Bearer tokens, each with the scopes it opens, kept as hashes in one JSON file.

    [{"name": "nas1", "scopes": ["predict", "read"], "sha256": "9f86…"}]

A token is 256 random bits: no list of likely ones exists, so that one SHA-256 keeps it as well as a
slow hash keeps a password.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
import time
from base64 import b64decode
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from data import durable

log = logging.getLogger(__name__)

Scope = Literal["predict", "read", "publish"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Asking for predictions and hints; reading models, metrics and pages; changing the model."""

LOOK_SECONDS = 1.0
"""How long after a change of the file the old tokens may still hold."""

_BYTES = 32


class Token(BaseModel):
    """What is kept of a token: who has it, what it opens, and the SHA-256 of its text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
    scopes: Annotated[list[Scope], Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


_FILE = TypeAdapter(list[Token])


def read(path: Path) -> list[Token]:
    """Return the tokens in a file; raise OSError or ValueError, naming it, for what is none."""
    try:
        return _FILE.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"[{step}]" for step in first["loc"])
        raise ValueError(f"{path}{place}: expected a list of tokens: {first['msg']}") from error


def add(path: Path, name: str, scopes: Collection[Scope]) -> str:
    """Make a token, keep its hash in the file, and return its text, which is kept nowhere."""
    text = secrets.token_urlsafe(_BYTES)
    new = Token(
        name=name, scopes=sorted(set(scopes), key=SCOPES.index), sha256=_hash(text.encode())
    )

    def with_new(tokens: list[Token]) -> list[Token]:
        if any(token.name == name for token in tokens):
            raise ValueError(f"{path}: there is a token {name!r} already; remove it first")
        return [*tokens, new]

    _change(path, with_new)
    return text


def remove(path: Path, name: str) -> None:
    """Take the token of that name out of the file."""

    def without(tokens: list[Token]) -> list[Token]:
        rest = [token for token in tokens if token.name != name]
        if len(rest) == len(tokens):
            raise ValueError(f"{path}: expected a token {name!r}, found none")
        return rest

    _change(path, without)


def _change(path: Path, change: Callable[[list[Token]], list[Token]]) -> None:
    with durable.locked(path.with_name(f".{path.name}.lock")):
        tokens = change(read(path) if path.exists() else [])
        with durable.replaced(path) as new:
            new.write_bytes(_FILE.dump_json(tokens, indent=2) + b"\n")


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


class Tokens:
    """The tokens of a file as it is now: it is looked at again, once a second at most.

    A file that is gone opens nothing. One that cannot be read leaves the tokens as they were. The
    first time it must be sound: raises OSError or ValueError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tokens = read(path)
        self._seen = _identity(path)
        self._next = time.monotonic() + LOOK_SECONDS

    def scopes(self, authorization: bytes) -> Collection[Scope] | None:
        """Return what the token in an ``Authorization`` field opens; None where it is none."""
        self._look()
        text = _presented(authorization)
        if not text:
            return None
        found, opened = _hash(text), None
        # All are compared, each in constant time: how long it takes tells nothing of any.
        for token in self._tokens:
            if hmac.compare_digest(token.sha256, found):
                opened = token.scopes
        return opened

    def _look(self) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_SECONDS
        seen = _identity(self._path)
        if seen == self._seen:
            return
        self._seen = seen
        try:
            self._tokens = [] if seen is None else read(self._path)
            log.info("%s: %d tokens from now on", self._path, len(self._tokens))
        except (OSError, ValueError) as error:
            log.error("the tokens stay as they were: %s", error)


def _presented(authorization: bytes) -> bytes:
    """Return the token in the field: a Bearer (RFC 6750) or a Basic password (RFC 7617)."""
    scheme, _, rest = authorization.partition(b" ")
    if scheme.lower() == b"bearer":
        return rest.strip()
    if scheme.lower() == b"basic":
        try:
            return b64decode(rest, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""


def _identity(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
