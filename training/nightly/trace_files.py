"""Where traces are looked for: directories that cannot be looked into, and globs without a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from itertools import takewhile
from pathlib import Path


def unreachable(globs: Sequence[str]) -> dict[str, str]:
    """Return by path why a directory on the way of `globs` cannot be looked into.

    A glob matches nothing in such a directory, as if no trace were there. It is closed, or it is
    that which a glob begins with, before any wildcard, and does not exist.
    """
    found: dict[str, str] = {}
    for pattern in map(Path, globs):
        shut = list(_closed(pattern))
        for path in shut:
            why = "is closed to the user that this runs as"
            found[path] = f"{path}: {why}; expected to find traces there"
        place = beginning(pattern)
        if not shut and not place.is_dir():
            found[str(place)] = f"{place}: is no directory; expected to find traces there"
    return found


def unmatched(globs: Sequence[str]) -> list[str]:
    """Return for each glob that matches no file, in a directory that can be read, what is there.

    It may be meant, on a quiet night, or be a mistake.
    """
    return [
        f"{pattern}: no file is called so; {_held(beginning(Path(pattern)))}"
        for pattern in globs
        if not unreachable([pattern]) and not any(matching([pattern]))
    ]


def matching(globs: Sequence[str]) -> Iterator[Path]:
    """Yield the files that globs match, each once, in the order of their paths."""
    # Path.glob takes no absolute pattern.
    matches = (glob(pattern, recursive=True) for pattern in globs)  # noqa: PTH207
    return (path for path in sorted(map(Path, set().union(*matches))) if path.is_file())


def beginning(pattern: Path) -> Path:
    """Return the directory that a glob begins with, before any wildcard."""
    return Path(*takewhile(lambda part: not has_magic(part), pattern.parts[:-1]))


def _held(directory: Path) -> str:
    """Return in words what a directory holds."""
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
        # As the traces are found, and with no exception for what may not be looked at.
        for path in glob(str(parent), recursive=True):  # noqa: PTH207
            is_directory = os.path.isdir(path)  # noqa: PTH112
            if is_directory and not os.access(path, needed, effective_ids=True):
                yield str(Path(path))
