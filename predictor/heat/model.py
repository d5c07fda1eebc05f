"""What is learned of heat beside the predicates: rates of files, shares of directories, places."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from birthmark.predictor.heat.directories import HotDirs, directories
from birthmark.predictor.heat.hot_places import (
    directories_in,
    files_in,
    hot_directories,
    hot_writes,
)
from birthmark.predictor.heat.places import Places
from birthmark.predictor.heat.rates import WriteRates


@dataclass(repr=False)
class Heat:
    """Block writes per hour to expect of files, and hot births to expect in directories.

    And what is hinted of both to a file system, by owner and name: ``hot_dirs`` and ``hot_writes``.
    """

    rates: WriteRates = field(default_factory=WriteRates)
    dirs: HotDirs = field(default_factory=HotDirs)
    hot_dirs: Places = field(default_factory=hot_directories)
    hot_writes: Places = field(default_factory=hot_writes)

    def __repr__(self) -> str:
        return "<Heat: what to expect of the files and directories that it learned from>"

    def fit(self, files: pa.Table) -> Heat:
        """Learn from a files table (``data.schema.FILES``).

        It has the directories, too, and files that were there before, which are hinted of as well.
        """
        self.rates.partial_fit(files)
        self.dirs.partial_fit(directories(files))
        self.hot_dirs.fit(directories_in(files))
        self.hot_writes.fit(files_in(files))
        return self

    def save(self, directory: Path) -> list[str]:
        """Write all to files in ``directory``; return their names."""
        every = (self.rates, self.dirs, self.hot_dirs, self.hot_writes)
        return [name for each in every for name in each.save(directory)]

    @classmethod
    def load(cls, directory: Path) -> Heat:
        """Return what was saved in ``directory``.

        Raises ``predictor.parts.DamagedModelError`` where a file is not as it was saved.
        """
        places = (each().load(directory) for each in (hot_directories, hot_writes))
        return cls(WriteRates.load(directory), HotDirs.load(directory), *places)
