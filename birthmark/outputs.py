"""Where a command writes to, and how it tells a result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from birthmark.terminal import fields

Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def output(help: str) -> Any:
    """Return an option for the path of what is written, and not to standard output."""
    return typer.Option(callback=named, help=help)


def named(path: Path | None) -> Path | None:
    """Return the path that an option gives; refuse ``-`` where it is not standard output.

    It would be a file of that name.
    """
    if path == Path("-"):
        raise typer.BadParameter("expected a name: this is not written to standard output")
    return path


def tell(result: Mapping[str, Any], as_json: bool) -> None:
    """Print a result: as one JSON object, or as a line for each value that there is."""
    if as_json:
        print_json(result)
    else:
        fields(result)


def print_json(result: object) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(result, indent=1, allow_nan=False))
