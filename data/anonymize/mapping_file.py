"""The mapping's file: readable by its owner alone, and used by one process at a time."""

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
"""Read and written by its owner alone, since it can undo the anonymization."""

_SETTINGS = "settings "
_LONGEST = 1 << 20  # characters of the second line


class MappingError(ValueError):
    """A mapping file that cannot be used; it was not changed."""


@dataclass(frozen=True)
class MappingFile:
    """A mapping, its settings, and the file that holds both."""

    path: Path
    settings: Settings
    mapping: Mapping

    def save(self) -> None:
        """Replace the mapping's file; at no time may others read it."""
        with replaced(self.path) as temporary:
            make_like(self.path, temporary, MODE)
            self.mapping.write(str(temporary), self.settings.model_dump_json())


@contextmanager
def open_mapping(
    path: Path, settings: Settings | None = None, seed: int | None = None
) -> Iterator[MappingFile]:
    """Yield the mapping in a file, or a new one; a lock keeps other processes out until the end.

    Args:
        path: the mapping's file; only `MappingFile.save` writes it.
        settings: what stays and what is left out; None: as the file has it, or the defaults.
        seed: the new mapping follows from it, and anyone who knows it can undo the mapping: for
            examples and tests only. None draws from the operating system.

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
    for kind, words_to_keep in settings.words_to_keep().items():
        for what in words_to_keep:
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
    """Return a file's settings, after checking that the file may be used."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise MappingError(f"{path}: expected a file")
    mode = stat.S_IMODE(about.st_mode)
    if mode & 0o077:
        raise MappingError(
            f"{path}: mode {mode:04o} lets others read or write it: expected "
            f"{MODE:04o} (chmod 600); whoever has read it can undo the mapping"
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
    """Return the contents of a file's second and third line."""
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
