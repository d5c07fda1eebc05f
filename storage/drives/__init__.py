"""Drives: their parameters, in TOML files, for the model of a drive (``native/storage/src/drive``).

A name stands for a file that comes with the package; anything that ends in ``.toml`` is a file of
one's own. The keys are those of :class:`Drive`.
"""

from birthmark.storage.drives.drive import Drive
from birthmark.storage.drives.read import DRIVES, drive_path, read_drive

__all__ = ["DRIVES", "Drive", "drive_path", "read_drive"]
