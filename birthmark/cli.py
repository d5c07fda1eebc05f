"""The command line: ``birthmark COMMAND``."""

from __future__ import annotations

import sys

import typer

from birthmark import __version__
from birthmark.commands.anonymize import anonymize
from birthmark.commands.audit import audit
from birthmark.commands.dump import dump
from birthmark.commands.explain import explain, rules
from birthmark.commands.image import image
from birthmark.commands.ingest import ingest
from birthmark.commands.install import app as install
from birthmark.commands.layout import layout
from birthmark.commands.models import app as models
from birthmark.commands.replay import app as replay
from birthmark.commands.scan import app as scan
from birthmark.commands.serve import predict, serve
from birthmark.commands.tokens import app as tokens
from birthmark.commands.train import evaluate, nightly, report, train
from birthmark.commands.windows import windows
from birthmark.commands.workload import workload
from birthmark.exits import FAILED, say

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Predict what a file will become at the moment it is created.",
)
COMMANDS = (
    ingest,
    dump,
    anonymize,
    train,
    evaluate,
    windows,
    report,
    nightly,
    audit,
    serve,
    predict,
    explain,
    rules,
    image,
    layout,
    workload,
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(install, name="install")
app.add_typer(models, name="models")
app.add_typer(replay, name="replay")
app.add_typer(scan, name="scan")
app.add_typer(tokens, name="tokens")


def version(value: bool) -> None:
    """Print the version and leave."""
    if value:
        print(f"birthmark {__version__}")
        raise typer.Exit


@app.callback()
def options(
    show_version: bool = typer.Option(
        False, "--version", callback=version, is_eager=True, help="print the version"
    ),
) -> None:
    """Predict what a file will become at the moment it is created."""


def main() -> None:
    """Run the command line; an expected error is one line on standard error and exit code 1."""
    try:
        app()
    except BrokenPipeError:
        sys.exit(141)  # as the shell reports a process ended by SIGPIPE
    except (OSError, ValueError) as error:
        say(error)
        sys.exit(FAILED)
