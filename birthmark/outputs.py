"""Where a command writes to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer
from rich.console import Console


def named(path: Path | None) -> Path | None:
    """Return the path that an option gives; refuse ``-`` where it is not standard output.

    It would be a file of that name.
    """
    if path == Path("-"):
        raise typer.BadParameter("expected a name: this is not written to standard output")
    return path


def warn(warnings: Iterable[str]) -> None:
    """Print on standard error what may be meant, or be a mistake: a line for each."""
    console = Console(stderr=True)
    for line in warnings:
        text = f"birthmark: warning: {line}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
