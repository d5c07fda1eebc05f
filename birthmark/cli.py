"""The command line: ``birthmark COMMAND``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from textwrap import wrap
from typing import Any

import typer
import typer.core
import typer.main

from birthmark import __version__
from birthmark.data.common.choices import did_you_mean
from birthmark.data.common.without_pandas import without_pandas
from birthmark.exits import FAILED, is_full, print_error, warn
from birthmark.plugins import Command, Loaded, load
from birthmark.terminal import grid, line, show

GROUPS = {
    "Traces": {
        "ingest": "Read captures or nfsdump text into a dataset.",
        "follow": "Follow live traffic, and write a dataset each hour.",
        "scan": "Count operations per period, and plot the counts.",
        "top": "Show the busiest users, clients, directories and files.",
        "dump": "Print a capture or dataset as nfsdump text.",
        "anonymize": "Replace users, addresses and names by pseudonyms.",
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
}
"""The first line of each command's help, repeated so that the list imports no command."""

CORE = {
    name: Command(title, text, f"birthmark.commands.{name}")
    for title, group in GROUPS.items()
    for name, text in group.items()
}
"""The commands that need no entry point."""

RENAMED = {
    "explain": "predict --explain",
    "rules": "models rules",
    "image": "models image",
    "report": "evaluate report",
    "windows": "evaluate windows",
    "models compare": "evaluate versions",
    "scan top": "top table",
}
"""Old spellings, which run the new ones during this release."""


@cache
def plugins() -> Loaded:
    """Return the commands of installed packages; slow, so commands of the core run without."""
    return load("birthmark.commands", Command, taken=CORE)


def commands() -> dict[str, Command]:
    """Return all commands by name, in the order of the help."""
    return {**CORE, **plugins().objects}


def find(name: str) -> Command | None:
    """Return a command; None if there is none of that name."""
    return CORE.get(name) or plugins().objects.get(name)


def renamed() -> dict[str, str]:
    """Return all old spellings, each with the new one."""
    spellings = dict(RENAMED)
    for found in plugins().objects.values():
        spellings |= found.renamed
    return spellings


def command(name: str) -> Any:
    """Import and return a command, or a group of them (its module's ``app``).

    Raises:
        ValueError: it cannot be loaded.
    """
    found = find(name)
    assert found is not None
    try:
        module = import_module(found.module)
        declared = getattr(module, "app", None) or getattr(module, name)
    except (AttributeError, ImportError) as error:
        raise ValueError(f"{name}: cannot be loaded from {found.module}: {error}") from error
    if isinstance(declared, typer.Typer):
        group = typer.main.get_group(declared)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(declared)
    return typer.main.get_command(alone)


class LazyCommand(typer.core.TyperCommand):
    """A command that is imported when it runs or prints its help."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Import the command, and continue with it."""
        return command(str(self.name)).make_context(info_name, args, parent, **extra)


UsageError: Any = typer.BadParameter.__base__
"""The error for a bad command line; typer does not export it."""


NATIVE = ".native"
"""The name's end of an extension module that `make quickstart` does not build."""

TITLE = 11
"""Columns of a group's title, which is wrapped."""


class Commands(typer.core.TyperGroup):
    """The group of all commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Replace an old spelling, and print the new one on standard error."""
        for old, new in _spellings(args).items():
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
        warn(plugins().errors.values())
        options = (word for own in self.get_params(ctx) for word in sorted(own.opts))
        line(f"Options: {', '.join(options)}")

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands' names in the order of the help."""
        return list(commands())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; suggest a similar one if it is unknown.

        Raises:
            ValueError: the command of a package cannot be loaded.
        """
        if find(args[0]) is None and not ctx.resilient_parsing:
            if args[0] in plugins().errors:
                raise ValueError(plugins().errors[args[0]])
            ctx.fail(f"No such command {args[0]!r}{did_you_mean(args[0], commands())}.")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        found = find(cmd_name)
        return found and LazyCommand(cmd_name, help=found.help)


def _spellings(args: list[str]) -> Mapping[str, str]:
    """Return the old spellings that may begin a command line."""
    return RENAMED if not args or args[0] in CORE or args[0].startswith("-") else renamed()


def _list() -> Any:
    """Return a row for each command, with the titles of the groups before them."""
    groups: dict[str, dict[str, str]] = {}
    for name, found in commands().items():
        groups.setdefault(found.title, {})[name] = found.help
    listed = grid("bold", "cyan", "")
    for title, group in groups.items():
        titles = iter(wrap(title, TITLE))
        for name, text in group.items():
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
    except ModuleNotFoundError as error:
        if not str(error.name).endswith(NATIVE):
            raise
        print_error(ValueError(f"{error.name}: is not built; run `make install` in the checkout"))
        sys.exit(FAILED)
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
