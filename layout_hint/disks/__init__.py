"""Drives: their parameters, in TOML files, for the model of a disk (``layout_hint/sim/src/disk``).

A name stands for a file that comes with the package; anything that ends in ``.toml`` is a file of
one's own. The keys are those of :class:`Disk`.
"""

from birthmark.layout_hint.disks.disk import Curve, Disk, Seek, Zone
from birthmark.layout_hint.disks.read import DEFAULT, DISKS, read_disk

__all__ = ["DEFAULT", "DISKS", "Curve", "Disk", "Seek", "Zone", "read_disk"]
