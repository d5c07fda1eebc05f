"""``birthmark layout region``: a region of a file system for hot files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from birthmark.layout_hint.settings import Wanted
from birthmark.options import Options, with_options
from birthmark.outputs import Json, print_json
from birthmark.terminal import fields

if TYPE_CHECKING:
    from birthmark.layout_hint.suggestion import Suggestion


@with_options
def region(
    file_system: Annotated[
        Path, typer.Argument(help="device or image, UFS1 or UFS2, mounted or not")
    ],
    asked: Annotated[Wanted, Options()],
    as_json: Json = False,
) -> None:
    """Suggest a region of a file system for hot files.

    It is the first with room.
    """
    from birthmark.data.common.sizes import size
    from birthmark.layout_hint.suggestion import suggest

    found = suggest(file_system, size(asked.region), asked.group)
    if as_json:
        print_json(asdict(found))
    else:
        fields(_lines(found))


def _lines(found: Suggestion) -> dict[str, str | int]:
    from birthmark.data.common.sizes import in_words

    options = {
        "--region-start": found.region_start,
        "--region-length": found.region_length,
        "--region-inodes": found.region_inodes,
    }
    journal = " with a soft-updates journal" if found.journal else ""
    share = 100 * found.bytes_usable // found.region_length
    return {
        "usable": f"{in_words(found.bytes_usable)} for data, {share}% of the region, and"
        f" {found.inodes_free:,} inodes",
        "file system": f"{found.format}{journal}, {found.groups:,} groups of"
        f" {in_words(found.group_bytes)}, blocks of {in_words(found.block_bytes)}",
        "group": found.group,
        "inodes": f"{found.inodes:,}, {found.inodes_free:,} of them free",
        "data": f"{in_words(found.region_length)}, {in_words(found.bytes_free)} of it free,"
        f" {in_words(found.bytes_usable)} in whole blocks",
        "options": " ".join(f"{name} {value}" for name, value in options.items()),
    }
