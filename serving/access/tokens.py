"""Bearer tokens, each with the scopes it opens, kept as hashes in one JSON file.

    [{"name": "nas1", "scopes": ["predict", "read", "report"], "sha256": "9f86…"}]

A token is 256 random bits: no list of likely ones exists, so that one SHA-256 keeps it as well as a
slow hash keeps a password.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from base64 import b64decode
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from birthmark.data.common import durable
from birthmark.data.common.setting_errors import expected
from birthmark.data.settings import Strict
from birthmark.serving.messages.errors import ApiError

log = logging.getLogger(__name__)

Scope = Literal["predict", "read", "report", "follow", "publish"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Asking for predictions and hints; reading models, metrics and pages; reporting of hooks; telling
what a follower sees; changing the model."""

LOOK_SECONDS = 1.0
"""How long after a change of the file the old tokens may still hold."""

UNREAD_SECONDS = 60.0
"""How long the old tokens hold while the file cannot be read; then nothing is open."""

_NAME = "[A-Za-z0-9._-]{1,64}"
_BYTES = 32  # 256 random bits: nobody guesses one, so that a plain SHA-256 may keep it
_TICK_SECONDS = 2.0
"""How coarse a file system's times may be: FAT's are."""

_Identity = tuple[int, int, int, int, int]


class Token(Strict):
    """What is kept of a token: who has it, what it opens, and the SHA-256 of its text."""

    name: Annotated[str, Field(pattern=f"^{_NAME}$")]
    scopes: Annotated[list[Scope], Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


_FILE = TypeAdapter(list[Token])


def read(path: Path) -> list[Token]:
    """Return the tokens in a file; raise OSError or ValueError, naming it, for what is none."""
    return _tokens(path, path.read_bytes())


def _tokens(path: Path, content: bytes) -> list[Token]:
    try:
        return _FILE.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"[{step}]" for step in first["loc"])
        raise ValueError(f"{path}{place}: expected a list of tokens: {expected(first)}") from error


def add(path: Path, name: str, scopes: Collection[Scope]) -> str:
    """Make a token, keep its hash in the file, and return its text, which is kept nowhere.

    Raises ValueError where the name is none, or taken.
    """
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{name!r} is no name of a token: expected 1 to 64 of A-Z a-z 0-9 . _ -")
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
            durable.make_like(path, new, 0o600)
            new.write_bytes(_FILE.dump_json(tokens, indent=2) + b"\n")


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


class Tokens:
    """The tokens of a file as it is now: it is looked at again, once a second at most.

    A file that is gone opens nothing. While one cannot be read the tokens stay as they were for
    `UNREAD_SECONDS`, after which nothing is open. `tell` is called whenever the file was looked at,
    with whether it could be read. The first time it must be sound: raises OSError or ValueError.
    """

    def __init__(self, path: Path, tell: Callable[[bool], object] = lambda well: None) -> None:
        self._path = path
        self._tell = tell
        self._tokens, self._seen = _read(path)
        self._well = time.monotonic()  # when it last could be read, or was as it had been read
        self._next = self._well + LOOK_SECONDS
        self._trouble: str | None = None
        tell(True)

    def token(self, authorization: bytes) -> Token | None:
        """Return the token that an ``Authorization`` field shows; None where it is none.

        Raises `ApiError` while nothing is open because the file cannot be read.
        """
        self._look()
        text = _presented(authorization)
        if not text:
            return None
        digest, found = _hash(text), None
        # All are compared, each in constant time: how long it takes tells nothing of any.
        for token in self._tokens:
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def _look(self) -> None:
        """See whether the file has changed, if it is time; raise `ApiError` if it is too late."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + LOOK_SECONDS
            try:
                self._refresh()
                self._well, self._trouble = now, None
            except (OSError, ValueError) as error:
                self._failed(now, str(error))
            self._tell(self._trouble is None)
        if self._trouble is not None and now > self._well + UNREAD_SECONDS:
            raise ApiError("no_tokens", "the file of tokens cannot be read; the log says why")

    def _refresh(self) -> None:
        """Read the file if it is not that which was read; what could not be, is tried again."""
        try:
            seen = _identity(self._path.stat())
            if seen == self._seen:
                return
            tokens, self._seen = _read(self._path)
        except FileNotFoundError:
            tokens, self._seen = [], None
        if tokens != self._tokens or self._trouble is not None:
            log.info("%s: %d tokens from now on", self._path, len(tokens))
        self._tokens = tokens

    def _failed(self, now: float, trouble: str) -> None:
        self._seen = None
        if now > self._well + UNREAD_SECONDS:
            trouble = f"no token opens anything: {trouble}"
        else:
            trouble = f"the tokens stay as they were for {UNREAD_SECONDS:g} s at most: {trouble}"
        if trouble != self._trouble:
            log.error("%s", trouble)
        self._trouble = trouble


def _read(path: Path) -> tuple[list[Token], _Identity | None]:
    """Return the tokens in a file, and which file that was; None if that may not tell.

    It is that which was opened, whatever has its name by now, as it was before it was read. One
    that was written to a moment ago may be again, and look the same.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        tokens = _tokens(path, file.read())
    settled = abs(time.time() - status.st_mtime) > _TICK_SECONDS
    return tokens, _identity(status) if settled else None


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


def _identity(status: os.stat_result) -> _Identity:
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, *times, status.st_size
