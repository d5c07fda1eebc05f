"""Reading a drive's parameters."""

from __future__ import annotations

from pathlib import Path

from birthmark.data.common.setting_files import read_toml
from birthmark.storage.drives.drive import Drive

DRIVES = (
    "atlas10k",
    "atlas_III",
    "barracuda",
    "cheetah4LP",
    "cheetah9LP",
    "ddys36950",
    "ibm18es",
    "wd200bb",
)
"""The drives that come with the package."""


def read_drive(drive: str | Path) -> Drive:
    """Return the drive of a name, or in a file that ends in ``.toml``.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no drive, and the message names the file and the key.
    """
    return read_toml(drive_path(drive), Drive)


def drive_path(drive: str | Path) -> Path:
    """Return where a drive's parameters are; `ValueError` if there is no drive of that name."""
    name = str(drive)
    if name in DRIVES:
        return Path(__file__).with_name(f"{name}.toml")
    if name.endswith(".toml"):
        return Path(name)
    raise ValueError(f"drive {name!r}: expected {', '.join(DRIVES)} or a file that ends in .toml")
