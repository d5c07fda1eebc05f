"""The mapping's file: only its owner may read it, and one process at a time uses it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from birthmark.data.anonymize.settings import Settings
from birthmark.data.common.durable import LockedError, locked, make_like, replaced
from birthmark_native import AnonymizeError, Mapping

MODE = 0o600
"""Read and written by its owner alone: it undoes the anonymization."""

_SETTINGS = "settings "
_LONGEST = 1 << 20  # characters of the second line


class MappingError(ValueError):
    """A mapping file that cannot be used; it was left as it was."""


@dataclass(frozen=True)
class MappingFile:
    """A mapping, what stays and is left out by it, and the file that keeps both."""

    path: Path
    settings: Settings
    mapping: Mapping

    def save(self) -> None:
        """Write the mapping in place of the one that was there; at no time may others read it."""
        with replaced(self.path) as aside:
            make_like(self.path, aside, MODE)
            self.mapping.write(str(aside), self.settings.model_dump_json())


@contextmanager
def opened(
    path: Path, settings: Settings | None = None, seed: int | None = None
) -> Iterator[MappingFile]:
    """Yield the mapping that a file keeps, or a new one; a lock shuts others out until the end.

    Args:
        path: the mapping's file, which `MappingFile.save` writes, and nothing else.
        settings: what stays and what is left out; None: what the file says, or the defaults.
        seed: for examples and tests alone, a new mapping follows from it. Who knows it can undo
            the mapping; None draws from the operating system.

    Raises:
        MappingError: the file is damaged, others may read it, it has other settings or another
            seed, or another process uses it.
        OSError: it cannot be read.
    """
    try:
        with locked(path.with_name(f".{path.name}.lock"), wait=False):
            if path.exists():
                settings = _checked(path, settings, seed)
                mapping = _read(path, settings)
            else:
                settings = settings or Settings()
                mapping = _new(settings, seed)
            yield MappingFile(path, settings, mapping)
    except LockedError as error:
        raise MappingError(f"{path}: another process is using this mapping") from error


def _new(settings: Settings, seed: int | None) -> Mapping:
    mapping = Mapping(settings.prefix, settings.handles == "map", _omit(settings), seed)
    for kind, kept in settings.kept().items():
        for what in kept:
            mapping.keep(kind, what.encode())
    return mapping


def _read(path: Path, settings: Settings) -> Mapping:
    try:
        omit = _omit(settings)
        return Mapping.read(str(path), settings.prefix, settings.handles == "map", omit)
    except AnonymizeError as error:
        raise MappingError(f"{error}: it is damaged, or was changed by hand") from error


def _omit(settings: Settings) -> list[str]:
    return ["hosts" if what == "addresses" else what for what in settings.omit]


def _checked(path: Path, wanted: Settings | None, seed: int | None) -> Settings:
    """Return a file's settings, once it is known that it may be used."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise MappingError(f"{path}: expected a file")
    mode = stat.S_IMODE(about.st_mode)
    if mode & 0o077:
        raise MappingError(
            f"{path}: its mode is {mode:04o}, so that others may read or write it: expected "
            f"{MODE:04o} (chmod 600), and that whoever has read it can undo the mapping"
        )
    found, drawn = _head(path)
    if wanted is not None and wanted != found:
        raise MappingError(
            f"{path}: was made with other settings: expected the same ones, or none, "
            "or another file for a new mapping"
        )
    if seed is not None and drawn != str(seed):
        raise MappingError(f"{path}: its seed is {drawn}: expected the same one, or none")
    return found


def _head(path: Path) -> tuple[Settings, str]:
    """Return what a file's second and third line say."""
    with path.open(encoding="utf-8", errors="replace") as file:
        file.readline(_LONGEST)
        line, seed = file.readline(_LONGEST), file.readline(_LONGEST)
    try:
        settings = Settings.model_validate(json.loads(line.removeprefix(_SETTINGS)))
    except (ValueError, ValidationError) as error:
        raise MappingError(
            f"{path}: line 2: expected `{_SETTINGS}` and the settings of a mapping: "
            "it is damaged, or no mapping file"
        ) from error
    return settings, seed.removeprefix("seed ").strip()
