"""Bearer tokens with their scopes, stored as hashes in one JSON file.

    [{"name": "nas1", "scopes": ["predict", "read", "report"], "sha256": "9f86…"}]

A token is 256 random bits, which nobody can guess from a list. So a plain SHA-256 protects it as
well as a slow hash protects a password.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from birthmark.data.common import durable
from birthmark.data.common.regular import read_regular, read_with_status
from birthmark.data.common.setting_errors import expected
from birthmark.data.settings import Strict

log = logging.getLogger(__name__)

Scope = Literal["predict", "read", "report", "follow", "publish"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""Request predictions and hints; read models, metrics and pages; report counters of hooks; send a
live history; publish a version."""

LOOK_SECONDS = 1.0
"""How long the old tokens may still be valid after a change of the file."""

UNREAD_SECONDS = 60.0
"""How long the old tokens stay valid while the file cannot be read; then none is."""

MOST_BYTES = 1 << 20
"""The largest file of tokens: some 5,000."""

_NAME = "[A-Za-z0-9._-]{1,64}"
_BYTES = 32
_TICK_SECONDS = 2.0
"""The coarsest resolution of a file system's times: FAT's."""

_Identity = tuple[int, int, int, int, int]


class Token(Strict):
    """A stored token: the name of its holder, its scopes, and the SHA-256 of its text."""

    name: Annotated[str, Field(pattern=f"^{_NAME}$")]
    scopes: Annotated[list[Scope], Field(min_length=1)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


_FILE = TypeAdapter(list[Token])


def read(path: Path) -> list[Token]:
    """Return the tokens in a file; raise OSError or ValueError, naming it, if it is invalid."""
    return _tokens(path, read_regular(path, MOST_BYTES))


def _tokens(path: Path, content: bytes) -> list[Token]:
    try:
        return _FILE.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"[{step}]" for step in first["loc"])
        raise ValueError(f"{path}{place}: expected a list of tokens: {expected(first)}") from error


def add(path: Path, name: str, scopes: Collection[Scope]) -> str:
    """Make a token, store its hash in the file, and return its text, which is not stored.

    Raises ValueError if the name is invalid or in use.
    """
    if not re.fullmatch(_NAME, name):
        raise ValueError(f"{name!r}: expected a token's name: 1 to 64 of A-Z a-z 0-9 . _ -")
    text = secrets.token_urlsafe(_BYTES)
    new = Token(
        name=name, scopes=sorted(set(scopes), key=SCOPES.index), sha256=_hash(text.encode())
    )

    def with_new(tokens: list[Token]) -> list[Token]:
        if any(token.name == name for token in tokens):
            raise ValueError(f"{path}: already has a token {name!r}; remove it first")
        return [*tokens, new]

    _change(path, with_new)
    return text


def remove(path: Path, name: str) -> None:
    """Remove the token of that name from the file."""

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
    """The tokens of a file as it was at the last `refresh`.

    A file that is gone has no tokens. While the file cannot be read, the last tokens stay valid for
    `UNREAD_SECONDS`, and then none is. `tell` is called after each attempt with whether the file
    could be read. Raises OSError or ValueError if it is invalid at first.
    """

    def __init__(self, path: Path, tell: Callable[[bool], object] = lambda well: None) -> None:
        self._path = path
        self._tell = tell
        self._tokens, self._identity_read = _read(path)
        self._last_good = time.monotonic()  # when it last could be read or was unchanged
        self._error: str | None = None
        self._listener: Callable[[list[Token] | None], object] = lambda tokens: None
        tell(True)

    def subscribe(self, listener: Callable[[list[Token] | None], object]) -> None:
        """Call `listener` with the valid tokens now, and after each `refresh`.

        It gets None if the file could not be read for `UNREAD_SECONDS`.
        """
        self._listener = listener
        listener(self.valid())

    def valid(self) -> list[Token] | None:
        """Return the valid tokens; None if the file could not be read for `UNREAD_SECONDS`."""
        unread = time.monotonic() > self._last_good + UNREAD_SECONDS
        return None if unread else self._tokens

    def refresh(self) -> None:
        """Reload the file if it changed; to be called every `LOOK_SECONDS` in a thread."""
        now = time.monotonic()
        try:
            self._reload()
            self._last_good, self._error = now, None
        except (OSError, ValueError) as error:
            self._failed(now, str(error))
        self._tell(self._error is None)
        self._listener(self.valid())

    def _reload(self) -> None:
        """Read the file if it changed since, or could not be read."""
        try:
            identity = _identity(self._path.stat())
            if identity == self._identity_read:
                return
            tokens, self._identity_read = _read(self._path)
        except FileNotFoundError:
            tokens, self._identity_read = [], None
        if tokens != self._tokens or self._error is not None:
            log.info("%s: %d tokens are valid now", self._path, len(tokens))
        self._tokens = tokens

    def _failed(self, now: float, message: str) -> None:
        self._identity_read = None
        if now > self._last_good + UNREAD_SECONDS:
            message = f"no token is valid: {message}"
        else:
            message = f"the last tokens stay valid for {UNREAD_SECONDS:g} s at most: {message}"
        if message != self._error:
            log.error("%s", message)
        self._error = message


def _read(path: Path) -> tuple[list[Token], _Identity | None]:
    """Return the tokens in a file and its identity; None if it changed a moment ago.

    The identity is that of the opened file, from before it was read. A file written a moment ago
    may be written again within the resolution of its time, and would look unchanged.
    """
    content, status = read_with_status(path, MOST_BYTES)
    tokens = _tokens(path, content)
    settled = abs(time.time() - status.st_mtime) > _TICK_SECONDS
    return tokens, _identity(status) if settled else None


def _identity(status: os.stat_result) -> _Identity:
    times = status.st_mtime_ns, status.st_ctime_ns
    return status.st_dev, status.st_ino, *times, status.st_size
