"""Search for traces: inaccessible directories, and globs without a match."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path


def unreachable(globs: Sequence[str]) -> dict[str, str]:
    """Return the inaccessible directories along `globs`, with the reasons.

    A glob silently matches nothing in such a directory. It is closed, or it is the directory before
    the first wildcard and does not exist.
    """
    found: dict[str, str] = {}
    for pattern in map(Path, globs):
        shut = list(_closed(pattern))
        for path in shut:
            why = "is closed to this user"
            found[path] = f"{path}: {why}; expected to find traces there"
        place = beginning(pattern)
        if not shut and not place.is_dir():
            found[str(place)] = f"{place}: is not a directory; expected to find traces there"
    return found


def unmatched(globs: Sequence[str]) -> list[str]:
    """Return a warning for each glob without a match in a readable directory.

    It may be a quiet night, or a mistake.
    """
    return [
        f"{pattern}: no file matches; {_held(beginning(Path(pattern)))}"
        for pattern in globs
        if not unreachable([pattern]) and not any(matching([pattern]))
    ]


def matching(globs: Sequence[str]) -> Iterator[Path]:
    """Yield the files that globs match, each once, ordered by path."""
    # Path.glob takes no absolute pattern.
    matches = (glob(pattern, recursive=True) for pattern in globs)  # noqa: PTH207
    return (path for path in sorted(map(Path, set().union(*matches))) if path.is_file())


def beginning(pattern: Path) -> Path:
    """Return the directory of a glob before the first wildcard."""
    return Path(*takewhile(lambda part: not has_magic(part), pattern.parts[:-1]))


def _held(directory: Path) -> str:
    """Describe the contents of a directory."""
    try:
        names = sorted(path.name for path in directory.iterdir())
    except PermissionError:
        return f"{directory} cannot be listed"
    if not names:
        return f"{directory} is empty"
    return f"{directory} holds {len(names):,}, such as {names[-1]}"


def _closed(pattern: Path) -> Iterator[str]:
    parents = list(reversed(pattern.parents))
    names = pattern.parts[len(pattern.parts) - len(parents) :]
    for parent, name in zip(parents, names, strict=True):
        # To list a directory one must read it; to go through it to a name, search it.
        needed = os.R_OK | os.X_OK if has_magic(name) else os.X_OK
        # The same functions find the traces; they raise nothing for closed directories.
        for path in glob(str(parent), recursive=True):  # noqa: PTH207
            is_directory = os.path.isdir(path)  # noqa: PTH112
            if is_directory and not os.access(path, needed, effective_ids=True):
                yield str(Path(path))
