"""The command line: ``birthmark COMMAND``."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

from birthmark import __version__
from birthmark.data.common.choices import meant
from birthmark.data.common.without_pandas import without_pandas
from birthmark.exits import FAILED, say
from birthmark.terminal import line

COMMANDS = {
    "ingest": (
        "Read traces (nfsdump text, pcap, pcapng) into a dataset of operations, files and names."
    ),
    "follow": "Follow a server's traffic as it happens, into datasets hour by hour.",
    "dump": "Print NFS calls and replies as nfsdump text: a capture's, live too, or a dataset's.",
    "anonymize": "Replace users, groups, addresses and names at random, each always by the same.",
    "train": "Train on the datasets together, and publish the model.",
    "evaluate": "Test a model on a dataset: how often it is right about what files became.",
    "windows": (
        "Compare training on the last 1, 3, 7 and 30 days: which predicts the next day best."
    ),
    "report": (
        "Write a page on a model's accuracy, its sensitivity to minfrac, and the tested files."
    ),
    "nightly": (
        "Take in new traces, test the published model on them, train and publish its successor."
    ),
    "audit": (
        "Compare what was served with what became of the files; abstain where a bound is broken."
    ),
    "serve": (
        "Answer over HTTP from the published model, and from the next as soon as it is published."
    ),
    "predict": "Predict what a file will become, as the service does but without it.",
    "explain": (
        "Tell of new files what they will become, how likely, and why: the evidence of each yes."
    ),
    "rules": "List the rules of the published model, those first that spare a guess most errors.",
    "image": "Compile the published model into an image, which C looks up in without a service.",
    "layout": "Replay days under policies of layout, and compare what falls into the region.",
    "f2fs": "Have F2FS place files by learned lists of suffixes.",
    "region": "Say which region suits a file system, and what it would hold.",
    "storage": "Simulate storage, and compare it with what was measured.",
    "workload": "Generate a trace that is like one of the thesis's (it is marked as generated).",
    "install": "Have the system run it by itself.",
    "doctor": "Look whether a site is well: say what is wrong, where, and what to do.",
    "models": "Keep, choose and check trained models.",
    "replay": "Make a benchmark of a trace, and run it.",
    "scan": (
        "Count operations per period: `scan TRACE...` is short for `scan traces TRACE...`; "
        "the other commands take the table that it writes."
    ),
    "top": "Show what loads a server: its busiest users, clients, directories and files.",
    "tokens": "Say who may ask the service, and what.",
}
"""The line of each command in the list of commands. It is the first of the command's own help, and
stands here because that list imports no command."""

HOMES = {
    "evaluate": "train",
    "report": "train",
    "nightly": "train",
    "predict": "serve",
    "rules": "explain",
}
"""The modules of ``birthmark.commands`` whose names are not those of the commands in them."""


def command(name: str) -> Any:
    """Return a command, or a group of them (its module's ``app``), whole."""
    module = import_module(f"birthmark.commands.{HOMES.get(name, name)}")
    if hasattr(module, "app"):
        group = typer.main.get_group(module.app)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, name))
    return typer.main.get_command(alone)


class Later(typer.core.TyperCommand):
    """A command of which only its line is known until it is run, or asked for its own help."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """Go on with the command itself."""
        return command(str(self.name)).make_context(info_name, args, parent, **extra)


UsageError: Any = typer.BadParameter.__base__
"""What no command can make sense of on its line; it is not among the names that typer tells."""


class Commands(typer.core.TyperGroup):
    """The commands, each imported when it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names in the order of the help."""
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; say of another which may be meant."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}{meant(args[0], COMMANDS)}.")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; None if there is none."""
        return Later(cmd_name, help=COMMANDS[cmd_name]) if cmd_name in COMMANDS else None


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Predict what a file will become at the moment it is created.",
)


def version(value: bool) -> None:
    """Print the version and leave."""
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
        sys.exit(141)  # as the shell reports a process ended by SIGPIPE
    except (OSError, ValueError) as error:
        say(error)
        sys.exit(FAILED)


def _refuse(error: Any) -> None:
    """Print what is wrong with the words of a command line, and how one is written."""
    message = error.format_message()
    if not message:  # it had no words at all, and was shown the help
        return
    if error.ctx is not None:
        line(" ".join(error.ctx.get_usage().split()), stderr=True)
    line(f"birthmark: {message}", stderr=True)
