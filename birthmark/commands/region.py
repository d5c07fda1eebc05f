"""``birthmark region``: which region suits a file system, and what it would hold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from birthmark.layout_hint.settings import Wanted
from birthmark.options import Options, with_options
from birthmark.outputs import Json, print_json
from birthmark.terminal import fields


@with_options
def region(
    file_system: Annotated[
        Path, typer.Argument(help="device or image, UFS1 or UFS2, mounted or not")
    ],
    asked: Annotated[Wanted, Options()],
    as_json: Json = False,
) -> None:
    """Say which region suits a file system, and what it would hold."""
    from birthmark.data.common.sizes import in_words, size
    from birthmark.layout_hint.superblock import suggest

    found = suggest(file_system, size(asked.region), asked.group)
    if as_json:
        print_json(asdict(found))
        return
    options = {
        "--region-start": found.region_start,
        "--region-length": found.region_length,
        "--region-inodes": found.region_inodes,
    }
    group_bytes, block_bytes = in_words(found.group_bytes), in_words(found.block_bytes)
    fields(
        {
            "file system": f"{found.format}, {found.groups:,} groups of {group_bytes}, "
            f"blocks of {block_bytes}",
            "group": found.group,
            "inodes": f"{found.inodes:,}, {found.inodes_free:,} of them free",
            "data": f"{in_words(found.region_length)}, {in_words(found.bytes_free)} of it free",
            "options": " ".join(f"{name} {value}" for name, value in options.items()),
        }
    )
