"""Where a command writes to."""

from __future__ import annotations

from pathlib import Path

import typer


def named(path: Path | None) -> Path | None:
    """Return the path that an option gives; refuse ``-`` where it is not standard output.

    It would be a file of that name.
    """
    if path == Path("-"):
        raise typer.BadParameter("expected a name: this is not written to standard output")
    return path
