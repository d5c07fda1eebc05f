"""Reading a drive's parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from birthmark.data.common.setting_files import read_toml
from birthmark.layout_hint.disks.disk import SECTOR, Disk
from birthmark.layout_hint.settings import Options

DEFAULT = Options().disk
"""The drive taken where none is named: one like the thesis's."""

DISKS = (DEFAULT, "cheetah9lp")
"""The drives that come with the package."""

TRACK = 63 * SECTOR
"""Bytes before the first partition, as ``fdisk`` leaves them."""


def read_disk(name: str | Path = "", partition: int = 0) -> dict[str, Any]:
    """Return the parameters of a drive, checked, as the engine has them.

    Args:
        name: one of :data:`DISKS`, nothing for :data:`DEFAULT`, or a file that ends in ``.toml``.
        partition: bytes that it has to hold, behind its first track of 63 sectors.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no drive, and the message names the file and the key; or it is too small.
    """
    disk = read(name)
    if disk.bytes < partition + TRACK:
        raise ValueError(
            f"disk {str(name) or DEFAULT}: expected {partition / 1e9:.1f} GB for the partition,"
            f" found {disk.bytes / 1e9:.1f} GB"
        )
    return disk.parameters()


def read(name: str | Path = "") -> Disk:
    """Return a drive of any size; its name and errors as above."""
    return read_toml(_path(str(name) or DEFAULT), Disk)


def _path(name: str) -> Path:
    if name in DISKS:
        return Path(__file__).with_name(f"{name}.toml")
    if name.endswith(".toml"):
        return Path(name)
    raise ValueError(f"disk {name!r}: expected {', '.join(DISKS)} or a file that ends in .toml")
