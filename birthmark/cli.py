"""The command line: ``birthmark COMMAND``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from textwrap import wrap
from typing import Any

import typer
import typer.core
import typer.main

from birthmark import __version__
from birthmark.data.common.choices import did_you_mean
from birthmark.data.common.without_pandas import without_pandas
from birthmark.exits import FAILED, is_full, print_error
from birthmark.terminal import grid, line, show

GROUPS = {
    "Traces": {
        "ingest": "Read captures or nfsdump text into a dataset.",
        "follow": "Follow live traffic, and write a dataset each hour.",
        "scan": "Count operations per period, and plot the counts.",
        "top": "Show the busiest users, clients, directories and files.",
        "dump": "Print a capture or dataset as nfsdump text.",
        "anonymize": "Replace users, addresses and names by pseudonyms.",
        "replay": "Make a benchmark from a trace, and run it.",
    },
    "Models": {
        "train": "Train a model on datasets, and publish it.",
        "evaluate": "Measure accuracy; compare versions and training windows.",
        "predict": "Predict what a file will become, and explain why.",
        "models": "Manage stored models; list rules; compile images.",
    },
    "Service": {
        "serve": "Serve the published model's predictions over HTTP.",
        "nightly": "Ingest new traces, test the model, train its successor.",
        "audit": "Compare served predictions with outcomes.",
        "tokens": "Manage access tokens.",
        "install": "Write service files for systemd or FreeBSD.",
        "doctor": "Check a site: report faults, and how to fix them.",
    },
    "Placement and storage": {
        "layout": "Compare layout policies; suggest regions; F2FS's lists.",
        "storage": "Fit a server to its traffic, and rank variants of it.",
    },
    "Research": {
        "research": "Check papers' claims; simulate drives; generate traces.",
    },
}
"""The first line of each command's help, repeated so that the list imports no command."""

COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}

RENAMED = {
    "explain": "predict --explain",
    "rules": "models rules",
    "image": "models image",
    "report": "evaluate report",
    "windows": "evaluate windows",
    "models compare": "evaluate versions",
    "scan top": "top table",
    "f2fs": "layout f2fs",
    "region": "layout region",
    "storage attached": "research attached",
    "storage paper": "research paper",
    "storage replay": "research block-replay",
    "storage validate": "research validate",
    "workload": "research workload",
}
"""Old spellings, which run the new ones during this release."""


def command(name: str) -> Any:
    """Import and return a command, or a group of them (its module's ``app``)."""
    module = import_module(f"birthmark.commands.{name}")
    if hasattr(module, "app"):
        group = typer.main.get_group(module.app)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, name))
    return typer.main.get_command(alone)


class LazyCommand(typer.core.TyperCommand):
    """A command that is imported when it runs or prints its help."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Import the command, and continue with it."""
        return command(str(self.name)).make_context(info_name, args, parent, **extra)


UsageError: Any = typer.BadParameter.__base__
"""The error for a bad command line; typer does not export it."""


TITLE = 11
"""Columns of a group's title, which is wrapped."""


class Commands(typer.core.TyperGroup):
    """The group of all commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace an old spelling, and print the new one on standard error."""
        for old, new in RENAMED.items():
            words = old.split()
            if args[: len(words)] == words:
                args = [*new.split(), *args[len(words) :]]
                if not ctx.resilient_parsing:  # completion prints nothing else
                    line(f"birthmark: `birthmark {old}` is now `birthmark {new}`", stderr=True)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help on a screen of 24 lines of 80 columns; typer's panels need twice that."""
        line(ctx.get_usage())
        line(self.help or "")
        show(_list())
        options = (word for own in self.get_params(ctx) for word in sorted(own.opts))
        line(f"Options: {', '.join(options)}")

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands' names in the order of the help."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; suggest a similar one if it is unknown."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        return LazyCommand(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None


def _list() -> Any:
    """Return a row for each command, with the titles of the groups before them."""
    listed = grid("bold", "cyan", "")
    for title, commands in GROUPS.items():
        titles = iter(wrap(title, TITLE))
        for name, text in commands.items():
            listed.add_row(next(titles, ""), name, text)
    return listed


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Predict what a file will become at the moment it is created.",
)


def version(value: bool) -> None:
    """Print the version and exit."""
    if value:
        line(f"birthmark {__version__}")
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
            sys.exit(app(standalone_mode=False))
    except UsageError as error:
        _refuse(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        _discard_output()
        sys.exit(141)  # as the shell reports a process ended by SIGPIPE
    except (OSError, ValueError) as error:
        print_error(error)
        if is_full(error):
            _discard_output()
        sys.exit(FAILED)


def _discard_output() -> None:
    """Discard what standard output holds: Python would fail to write it, and exit with 120."""
    with suppress(OSError, ValueError):  # what stands for it in tests has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: Any) -> None:
    """Print the usage and the error of a bad command line."""
    message = error.format_message()
    if not message:  # without arguments, the help is printed
        return
    if error.ctx is not None:
        line(" ".join(error.ctx.get_usage().split()), stderr=True)
    line(f"birthmark: {message}", stderr=True)
