"""Replay recordings of a real FFS allocator, and compare every answer.

    python -m birthmark.layout_hint.check_recording FILE...

A recording is a run of FreeBSD's own allocation functions, of version 4.8 or later, with or without
a region: requests and answers (`docs/layout.md`, "The allocator"). Prints for each file how much
agrees, or the first answer that differs.

Exits with 0 if all agree, 1 if an answer differs, and 2 if a file is no recording.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TextIO

from birthmark.data.common.plurals import counted
from birthmark.data.common.visible import visible
from birthmark.layout_hint.native import Checked, RecordingError, check_recording

AGREES, DIFFERS, BAD = 0, 1, 2
"""Exit codes: the worst of all files."""


def report(path: Path, checked: Checked) -> list[str]:
    """Return the lines to print about a recording."""
    agree = (
        f"{counted(checked.operations, 'operations')} and {counted(checked.states, 'states')} agree"
    )
    if checked.difference is None:
        return [f"{path}: {agree}"]
    number, request, recorded, answered = checked.difference
    return [
        f"{path}:{number}: {request}",
        f"  recorded: {recorded}",
        f"  answered: {answered}",
        f"  before it {agree}",
    ]


def print_line(line: str, file: TextIO) -> None:
    """Print a line, escaped: paths and recordings may hold control sequences."""
    print(visible(line), file=file)


def check(path: Path) -> int:
    """Compare a recording, print the result, and return the exit code."""
    try:
        checked = check_recording(path)
    except OSError as error:
        print_line(f"{path}: expected a recording: {error.strerror or error}", sys.stderr)
        return BAD
    except RecordingError as error:
        print_line(str(error), sys.stderr)
        return BAD
    for each in report(path, checked):
        print_line(each, sys.stdout)
    return AGREES if checked.difference is None else DIFFERS


def main() -> int:
    """Run from the command line."""
    lines = (__doc__ or "").splitlines()
    program = "python -m birthmark.layout_hint.check_recording"
    parser = argparse.ArgumentParser(program, description=lines[0])
    parser.add_argument("recordings", metavar="FILE", type=Path, nargs="+")
    return max(check(path) for path in parser.parse_args().recordings)


if __name__ == "__main__":
    sys.exit(main())
