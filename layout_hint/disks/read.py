"""Reading a drive's parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from birthmark.data.common.setting_files import read_toml
from birthmark.layout_hint.disks.drive import Drive
from birthmark.layout_hint.native import check_drive
from birthmark.layout_hint.settings import Options

DEFAULT = Options().disk
"""The default drive for replaying a layout: one like the thesis's."""

MEASURED = ("atlas10k", "atlas_III", "barracuda", "cheetah4LP", "cheetah9LP", "ibm18es")
"""Drives whose parameters were extracted from them."""

ASSUMED = ("ddys36950", "wd200bb")
"""Drives of papers; unknown parameters are assumed."""

DRIVES = tuple(sorted((*MEASURED, *ASSUMED, DEFAULT), key=str.lower))
"""The drives of the package."""

SECTOR = 512

TRACK = 63 * SECTOR
"""Bytes before the first partition, as ``fdisk`` leaves them."""


def read_drive(drive: str | Path) -> Drive:
    """Return the drive of a name, or in a file that ends in ``.toml``.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no drive; the message names the file and the key.
    """
    path = drive_path(drive)
    read = read_toml(path, Drive)
    check_drive(json.dumps(read.parameters()), path)
    return read


def drive_path(drive: str | Path) -> Path:
    """Return the path of a drive's parameters; `ValueError` for an unknown name."""
    name = str(drive)
    if name in DRIVES:
        return Path(__file__).with_name(f"{name}.toml")
    if name.endswith(".toml"):
        return Path(name)
    raise ValueError(f"drive {name!r}: expected {', '.join(DRIVES)} or a file that ends in .toml")


def read_disk(drive: str | Path = "", partition: int = 0) -> dict[str, Any]:
    """Return the parameters of a drive for the native code.

    Args:
        drive: as for `read_drive`; empty: :data:`DEFAULT`.
        partition: bytes that it has to hold after its first track of 63 sectors.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no drive, and the message names the file and the key; or it is too small.
    """
    name = str(drive) or DEFAULT
    found = read_drive(name)
    size = found.sectors * SECTOR
    if size < partition + TRACK:
        raise ValueError(
            f"drive {name}: expected {partition / 1e9:.1f} GB for the partition,"
            f" found {size / 1e9:.1f} GB"
        )
    return found.parameters()
