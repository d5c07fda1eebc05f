"""The command line: ``birthmark COMMAND``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

from birthmark import __version__
from birthmark.exits import FAILED, say
from birthmark.without import without_pandas

COMMANDS = {
    "ingest": "ingest",
    "dump": "dump",
    "anonymize": "anonymize",
    "train": "train",
    "evaluate": "train",
    "windows": "windows",
    "report": "train",
    "nightly": "train",
    "audit": "audit",
    "serve": "serve",
    "predict": "serve",
    "explain": "explain",
    "rules": "explain",
    "image": "image",
    "layout": "layout",
    "workload": "workload",
    "install": "install",
    "models": "models",
    "replay": "replay",
    "scan": "scan",
    "tokens": "tokens",
}
"""The module of ``birthmark.commands`` that has a command, or as ``app`` a group of them."""


class Commands(typer.core.TyperGroup):
    """The commands, each imported when it is run: what learns takes seconds to import."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"birthmark.commands.{COMMANDS[cmd_name]}")
        if hasattr(module, "app"):
            group = typer.main.get_group(module.app)
            group.name = cmd_name
            return group
        alone = typer.Typer(add_completion=False)
        alone.command(cmd_name)(getattr(module, cmd_name))
        return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Predict what a file will become at the moment it is created.",
)


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
        with without_pandas():
            app()
    except BrokenPipeError:
        sys.exit(141)  # as the shell reports a process ended by SIGPIPE
    except (OSError, ValueError) as error:
        say(error)
        sys.exit(FAILED)
