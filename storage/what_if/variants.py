"""Variants of a server: known settings, and changes to try."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from birthmark.data.common.setting_errors import InvalidError, reasons
from birthmark.data.common.setting_files import read_toml
from birthmark.data.common.sizes import size
from birthmark.data.settings import Strict
from birthmark.layout_hint.disks import drive_path
from birthmark.layout_hint.replay.conditions import DEFAULT
from birthmark.storage.what_if.ahead import COUNTED, Table
from birthmark.storage.what_if.ahead import Policy as ReadAhead
from birthmark.storage.what_if.hints import Policy, needs_model
from birthmark.storage.what_if.server import Distribution, Server


def _size(value: Any) -> Any:
    return size(value) if isinstance(value, str) else value


Size = Annotated[int, BeforeValidator(_size)]
"""Bytes, or a text such as ``64G``."""

SSD = {
    "drive": None,
    "channels": 32,
    "disk_read": Distribution.constant(90, 0.4),
    "disk_write": Distribution.constant(30, 0.6),
}
"""An SSD of today, assumed: 90 μs to read, 30 μs to write to memory that outlasts a power failure,
2.5 and 1.7 GB/s, 32 requests at a time."""

NOW = "now"
"""The name of the current server among its variants."""


class Change(Strict):
    """Settings of a server: the known ones, or those that a variant changes."""

    threads: int | None = Field(default=None, ge=1, le=65_536, description="threads (nfsd)")
    processors: int | None = Field(default=None, ge=1, le=4096, description="number of processors")
    in_turn: bool | None = Field(
        default=None, description="calls of a connection are worked on one at a time"
    )
    connections: int | None = Field(
        default=None, ge=1, le=16, description="connections in place of each (nconnect)"
    )
    memory: Size | None = Field(default=None, ge=4096, description="memory for data of files")
    link: Size | None = Field(default=None, ge=0, description="bytes a second; 0: no limit")
    read_ahead: ReadAhead | None = Field(default=None, description="policy of read-ahead")
    read_ahead_most: Size | None = Field(
        default=None, ge=4096, description="most bytes read ahead; of linux"
    )
    read_ahead_table: Table | None = Field(
        default=None, description="entries/probes of the table of files; of policies that count"
    )
    write_buffer: Size | None = Field(default=None, ge=0, description="NVRAM")
    changes_to_disk: bool | None = Field(
        default=None, description="changes of names are on disk before the reply"
    )
    locks: bool | None = Field(
        default=None, description="a writer has exclusive access to the file"
    )
    disks: int | None = Field(default=None, ge=1, le=1000, description="number of striped disks")
    stripe: Size | None = Field(
        default=None, ge=4096, description="bytes on a disk before the next"
    )
    channels: int | None = Field(default=None, ge=1, description="requests that a disk serves")
    drive: str | None = Field(default=None, description="a drive with an arm, by name or file")
    ssd: bool | None = Field(default=None, description="disks are SSDs of today, as assumed here")
    disk_read_us: float | None = Field(
        default=None, gt=0, le=1e9, description="read time of a disk without an arm, μs"
    )
    disk_read_rate: Size | None = Field(
        default=None, ge=1, description="bytes a second that it reads, besides"
    )
    disk_write_us: float | None = Field(
        default=None, gt=0, le=1e9, description="time until a write is stable, μs"
    )
    disk_write_rate: Size | None = Field(
        default=None, ge=1, description="bytes a second that it writes, besides"
    )
    layout_hint: Policy | None = Field(
        default=None, description="hints for the layout of files on a drive"
    )
    region: Size | None = Field(
        default=None, ge=1 << 20, le=64 << 20, description="bytes of the region for hot files"
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"expected at least one of {names}; found none")
        if self.drive is not None and self.ssd:
            raise ValueError("expected a drive or ssd, found both")
        if self.drive is not None:
            drive_path(self.drive)
        for of in ("read", "write"):
            if getattr(self, f"disk_{of}_rate") and not getattr(self, f"disk_{of}_us"):
                raise ValueError(f"disk_{of}_rate: expected disk_{of}_us beside it; found none")
        return self

    def settings(self) -> dict[str, Any]:
        """Return the settings of a `Server` that this sets."""
        settings = self.model_dump(exclude_unset=True, exclude_none=True)
        disks = dict(SSD) if settings.pop("ssd", False) else {}
        for of in ("disk_read", "disk_write"):
            micros, rate = settings.pop(f"{of}_us", None), settings.pop(f"{of}_rate", None)
            if micros is not None:
                disks[of] = Distribution.constant(micros, 1e9 / rate if rate else 0)
        return disks | settings

    def without_hint(self) -> Self | None:
        """Return the same without hints; None if nothing else is set."""
        rest = self.model_fields_set - {"layout_hint", "region"}
        settings = self.model_dump(include=rest)
        return type(self).model_validate(settings) if rest else None

    def of(self, server: Server) -> Server:
        """Return the server with these changes.

        Raises ValueError if a setting belongs to another read-ahead than the server then has.
        """
        changed = Server(**dict(server) | self.settings())
        for name, policies in (("most", ("linux",)), ("table", COUNTED)):
            if getattr(self, f"read_ahead_{name}") and changed.read_ahead not in policies:
                expected = f"read_ahead_{name}: expected read_ahead to be {', '.join(policies)}"
                raise ValueError(f"{expected}; found {changed.read_ahead}")
        if self.region and changed.layout_hint == DEFAULT:
            raise ValueError("region: expected layout_hint to say what is hot; found Default")
        for name in ("disk_read_us", "disk_write_us", "channels"):
            if getattr(self, name) and changed.drive is not None:
                raise ValueError(f"{name}: expected disks without an arm; found {changed.drive}")
        return changed

    def hint(self) -> Policy | None:
        """Return the hints that it follows, if any."""
        return None if self.layout_hint == DEFAULT else self.layout_hint


class Questions(Strict):
    """A file of variants."""

    server: Change | None = Field(default=None, description="what is known of the server")
    model: str | None = Field(
        default=None, description="compiled image or registry that hints; for layout_hint"
    )
    variants: dict[str, Change] = Field(default={}, description="what to try, by name")

    @model_validator(mode="after")
    def _hints_are_tried(self) -> Self:
        if self.server is not None and self.server.layout_hint is not None:
            raise ValueError("server.layout_hint: expected it in a variant, to be compared")
        return self

    def known(self) -> dict[str, Any]:
        """Return the known settings of the server."""
        return {} if self.server is None else self.server.settings()


def questions(path: Path | None, tried: Sequence[str], model: str | None = None) -> Questions:
    """Return the questions of a file, if any, and of options: ``memory=64G,threads=16``.

    ``model`` replaces the file's.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file or an option is impossible; the message names file and key.
    """
    found = Questions() if path is None else read_toml(path, Questions)
    options = {words: _change(words) for words in tried}
    model = model or found.model
    variants = dict(found.variants) | options
    named = {name: f"{path}: variants.{name}" for name in found.variants}
    named |= {words: f"--try {words}" for words in options}
    refuse(Server(**found.known()), variants, model, named.__getitem__)
    return Questions(server=found.server, model=model, variants=variants)


def refuse(
    server: Server,
    variants: Mapping[str, Change],
    model: str | None,
    named: Callable[[str], str] = "variants.{}".format,
) -> None:
    """Raise ValueError, with what it is ``named``, for an impossible variant of a server."""
    region: int | None = None
    for name, own in variants.items():
        try:
            if name == NOW:
                raise ValueError("expected another name: the server as it is has this one")
            changed = own.of(server)
            if not (hint := own.hint()):
                continue
            if model is None and needs_model(hint):
                wanted = "expected --model, a compiled image or a registry, or layout_hint oracle"
                raise ValueError(f"{wanted}; found {hint}")
            if region not in (None, changed.region):
                wanted = f"expected {region:,} bytes, as of the hints before"
                raise ValueError(f"region: {wanted}; found {changed.region:,}")
            region = changed.region
        except ValueError as error:
            raise InvalidError([f"{named(name)}: {error}"]) from error


def _change(words: str) -> Change:
    """Return the change described by an option's words."""
    settings: dict[str, Any] = {}
    for word in words.split(","):
        name, is_one, value = word.strip().partition("=")
        if not is_one or not value:
            raise InvalidError([f"--try {words}: expected SETTING=VALUE, found {word!r}"])
        if name in settings:
            raise InvalidError([f"--try {words}: expected each setting once, found two of {name}"])
        settings[name] = _value(value)
    try:
        return Change.model_validate(settings)
    except ValidationError as error:
        raise InvalidError([f"--try {words}: {own}" for own in reasons(error, Change)]) from error


def _value(text: str) -> Any:
    """Return a value as in a TOML file; other words are texts."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
