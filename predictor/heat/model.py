"""What is learned of heat beside the predicates: rates of files, and shares of directories."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from predictor.heat.directories import HotDirs, directories
from predictor.heat.rates import WriteRates


@dataclass
class Heat:
    """Block writes per hour to expect of files, and hot births to expect in directories."""

    rates: WriteRates = field(default_factory=WriteRates)
    dirs: HotDirs = field(default_factory=HotDirs)

    def partial_fit(self, files: pa.Table) -> Heat:
        """Learn from a files table (``data.schema.FILES``), which has the directories, too."""
        self.rates.partial_fit(files)
        self.dirs.partial_fit(directories(files))
        return self

    def save(self, directory: Path) -> list[str]:
        """Write both to files in ``directory``; return their names."""
        return [*self.rates.save(directory), *self.dirs.save(directory)]

    @classmethod
    def load(cls, directory: Path) -> Heat:
        """Return what was saved in ``directory``.

        Raises ``predictor.parts.DamagedModelError`` where a file is not as it was saved.
        """
        return cls(WriteRates.load(directory), HotDirs.load(directory))
