"""``birthmark dump``: nfsdump text from a capture or a dataset."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from birthmark.data.common.durable import opened_output
from birthmark.data.settings import Printing, Source
from birthmark.exits import warn
from birthmark.options import Options, with_options
from birthmark.terminal import line

if TYPE_CHECKING:  # help and the other commands do without it, and start sooner
    from birthmark.data.dump.traces import Dump

STREAM = Path("-")


@with_options
def dump(
    trace: Annotated[
        str,
        typer.Argument(
            help="capture or nfsdump text (- is stdin); with --from operations, a dataset"
        ),
    ],
    asked: Annotated[Printing, Options(named={"source": "--from"})],
    out: Annotated[Path | None, typer.Option(help="file to write; default, and -: stdout")] = None,
    all_attributes: Annotated[
        bool, typer.Option(help="print also attributes that nfsdump leaves out")
    ] = False,
) -> None:
    """Print a capture or dataset as nfsdump text."""
    lines = _lines(trace, asked.source, all_attributes)
    if out is None or out == STREAM:
        printed = write(lines, sys.stdout.buffer)
    else:
        with opened_output(out) as file:
            printed = write(lines, file)
    warn(lines.warnings)
    if not (printed or lines.left_out or lines.warnings):
        warn([f"{trace}: holds no NFS; expected a capture of NFS's port, which is 2049 as a rule"])
    for message in remarks(lines):
        line(message, stderr=True)


def _lines(trace: str, source: Source, all_attributes: bool) -> Dump:
    if source == "operations":
        from birthmark.data.dump.tables import TablesDump

        return TablesDump(trace, all_attributes)
    from birthmark.data.dump.traces import TraceDump

    return TraceDump(trace, all_attributes)


def write(lines: Dump, file: BinaryIO) -> int:
    """Write lines as they come; return the number of bytes."""
    printed = 0
    for chunk in lines:
        printed += file.write(chunk)
        file.flush()
    return printed


def remarks(lines: Dump) -> list[str]:
    """Return remarks on records that were not printed."""
    found = []
    if lines.damaged:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in lines.damaged.items())
        found.append(f"birthmark dump: not read: {reasons}")
    if lines.left_out:
        found.append(
            f"birthmark dump: not printed: {lines.left_out:,} of NFS version 4, for which nfsdump "
            "text has no form"
        )
    return found
