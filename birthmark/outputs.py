"""Output options, and printing of results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from birthmark.data.common.targets import check_output
from birthmark.terminal import fields

Json = Annotated[bool, typer.Option("--json", help="print one JSON object")]


def output(help: str) -> Any:
    """Return an option for an output file, which cannot be standard output."""
    return typer.Option(callback=named, help=help)


def folder(help: str) -> Any:
    """Return an option for an output folder, which is made if it is missing."""
    return typer.Option(callback=_a_folder, help=help)


def _a_folder(path: Path | None) -> Path | None:
    """Return the path of a folder; refuse one that cannot be made or written to."""
    path = named(path)
    if path is None:
        return None
    there = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"expected a folder; found {there}, which is none")
    if not os.access(there, os.W_OK):
        raise typer.BadParameter(f"expected a folder that can be written to; found {there}")
    return path


def named(path: Path | None) -> Path | None:
    """Return the path of an option; refuse ``-``, which would be a file of that name."""
    if path == Path("-"):
        raise typer.BadParameter("expected a name: this is not written to standard output")
    if path is not None:
        check_output(path)
    return path


def print_result(result: Mapping[str, Any], as_json: bool) -> None:
    """Print a result as one JSON object, or as a line for each value."""
    if as_json:
        print_json(result)
    else:
        fields(result)


def print_json(result: object) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(result, indent=1, allow_nan=False))
