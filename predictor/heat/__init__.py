"""Heat: files whose blocks will be written, and directories of short lives."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from birthmark.predictor.heat.directories import HotDirs, directories
from birthmark.predictor.heat.fill import bar, entry_bar, fill
from birthmark.predictor.heat.hot_places import (
    directories_in,
    files_in,
    hot_directories,
    hot_writes,
)
from birthmark.predictor.heat.places import Places
from birthmark.predictor.heat.rates import RATES, WriteRates
from birthmark.predictor.heat.reconsider import reconsider, settled
from birthmark.predictor.parts import Part

__all__ = [
    "RATES",
    "Heat",
    "HotDirs",
    "WriteRates",
    "bar",
    "directories",
    "entry_bar",
    "fill",
    "reconsider",
    "settled",
]


@dataclass(repr=False)
class Heat:
    """Block writes per hour to expect of files, and hot births to expect in directories.

    ``hot_dirs`` and ``hot_writes`` are hints about both for a file system, by owner and name.
    """

    rates: WriteRates = field(default_factory=WriteRates)
    dirs: HotDirs = field(default_factory=HotDirs)
    hot_dirs: Places = field(default_factory=hot_directories)
    hot_writes: Places = field(default_factory=hot_writes)

    def __repr__(self) -> str:
        return "<Heat: expected writes of files and hot births of directories>"

    def train(self, files: pa.Table) -> Heat:
        """Learn from a files table (``data.schema.FILES``).

        It includes directories, and files older than the trace, which get hints, too.
        """
        self.rates.partial_fit(files)
        self.dirs.partial_fit(directories(files))
        self.hot_dirs.fit(directories_in(files))
        self.hot_writes.fit(files_in(files))
        return self

    def save(self, directory: Part) -> list[str]:
        """Write all to files in ``directory``; return their names."""
        models = (self.rates, self.dirs, self.hot_dirs, self.hot_writes)
        return [name for model in models for name in model.save(directory)]

    @classmethod
    def load(cls, directory: Part) -> Heat:
        """Read what ``save`` wrote to ``directory``.

        Raises ``predictor.parts.DamagedModelError`` if a file is damaged.
        """
        places = (make().load(directory) for make in (hot_directories, hot_writes))
        return cls(WriteRates.load(directory), HotDirs.load(directory), *places)
