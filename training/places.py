"""Directories in which traces are looked for, and which the nightly run may not look into."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path


def closed(globs: Sequence[str]) -> dict[str, str]:
    """Return by path why a directory on the way of `globs` cannot be looked into.

    A glob matches nothing in such a directory, as if no trace were there. One that does not exist
    is not among them: a server may have left no trace yet.
    """
    return {
        path: f"{path}: is closed to the user that this runs as; expected to find traces there"
        for pattern in globs
        for path in _closed(Path(pattern))
    }


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
