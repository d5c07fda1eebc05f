"""Drives: their parameters, in TOML files, for the model in ``storage/simulator/src/drive``.

A name stands for a file of the package; anything that ends in ``.toml`` is a user's file. The keys
are those of :class:`Drive`.
"""

from birthmark.layout_hint.disks.drive import Drive
from birthmark.layout_hint.disks.read import DEFAULT, DRIVES, drive_path, read_disk, read_drive

__all__ = ["DEFAULT", "DRIVES", "Drive", "drive_path", "read_disk", "read_drive"]
