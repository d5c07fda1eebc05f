"""``birthmark tokens``: who may ask the service."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from birthmark.options import Options, with_options
from birthmark.serving.access import tokens
from birthmark.serving.settings import TokenFile, variable
from birthmark.terminal import line, show

app = typer.Typer(no_args_is_help=True, help="Say who may ask the service, and what.")

_Kept = Annotated[TokenFile, Options(variable=variable)]


@app.command()
@with_options
def add(
    name: Annotated[str, typer.Argument(help="name of who will use the token")],
    scope: Annotated[
        list[str],
        typer.Option(help=f"what the token allows: {', '.join(tokens.SCOPES)}; may be repeated"),
    ],
    kept: _Kept,
) -> None:
    """Make a token and print it, this once."""
    for each in scope:
        if each not in tokens.SCOPES:
            expected = ", ".join(tokens.SCOPES)
            raise typer.BadParameter(f"expected {expected}, found {each!r}", param_hint="--scope")
    line(tokens.add(kept.tokens, name, [each for each in tokens.SCOPES if each in scope]))


@app.command("list")
@with_options
def list_(
    kept: _Kept,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON array")] = False,
) -> None:
    """Print who has a token and what it opens."""
    found = [{"name": token.name, "scopes": token.scopes} for token in tokens.read(kept.tokens)]
    if as_json:
        typer.echo(json.dumps(found))
        return
    table = Table("name", "scopes")
    for token in tokens.read(kept.tokens):
        table.add_row(token.name, ", ".join(token.scopes))
    show(table)


@app.command()
@with_options
def remove(
    name: Annotated[str, typer.Argument(help="name of who uses the token")],
    kept: _Kept,
) -> None:
    """Take a token back: within a second it opens nothing."""
    tokens.remove(kept.tokens, name)
