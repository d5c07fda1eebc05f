"""``birthmark tokens``: access tokens of the service."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from birthmark.options import Options, with_options
from birthmark.serving.access import tokens
from birthmark.serving.settings import TokenFile, variable
from birthmark.terminal import line, show

app = typer.Typer(no_args_is_help=True, help="Manage access tokens.")

_File = Annotated[TokenFile, Options(variable=variable)]


@app.command()
@with_options
def add(
    name: Annotated[str, typer.Argument(help="name of the token's user")],
    scope: Annotated[
        list[str],
        typer.Option(help=f"scope: {', '.join(tokens.SCOPES)}; may be repeated"),
    ],
    file: _File,
) -> None:
    """Make a token and print it; it cannot be printed again."""
    for each in scope:
        if each not in tokens.SCOPES:
            expected = ", ".join(tokens.SCOPES)
            raise typer.BadParameter(f"expected {expected}, found {each!r}", param_hint="--scope")
    line(tokens.add(file.tokens, name, [each for each in tokens.SCOPES if each in scope]))


@app.command("list")
@with_options
def list_(
    file: _File,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON array")] = False,
) -> None:
    """List the tokens' users and scopes."""
    found = [{"name": token.name, "scopes": token.scopes} for token in tokens.read(file.tokens)]
    if as_json:
        typer.echo(json.dumps(found))
        return
    table = Table("name", "scopes")
    for token in tokens.read(file.tokens):
        table.add_row(token.name, ", ".join(token.scopes))
    show(table)


@app.command()
@with_options
def remove(
    name: Annotated[str, typer.Argument(help="name of the token's user")],
    file: _File,
) -> None:
    """Revoke a token; it takes effect within a second."""
    tokens.remove(file.tokens, name)
