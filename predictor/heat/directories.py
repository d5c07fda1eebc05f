"""``HotDir``, learned: the directories of coming hot files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.features import directories_of
from birthmark.predictor import parts
from birthmark.predictor.heat.means import ShrunkenMeans
from birthmark.predictor.labels import births
from birthmark.predictor.predicates.heat import HEAT_PREDICATES, SHARE
from birthmark.predictor.predicates.predicate import Predicate

_LEVELS = [["owner"], ["parent_name"], ["name"], ["parent_name", "name"]]
_FILE = "heat-directories.arrow"


def directories(files: pa.Table, hot: Predicate = HEAT_PREDICATES["HotName"]) -> pa.Table:
    """Return the ``features.DIRECTORIES`` of a files table, with the births that were ``hot``."""
    born = births(files)
    others = files.filter(pc.equal(files["kind"], "directory"))
    answers = pa.concat_arrays([hot.evaluate(born), pa.nulls(len(others), pa.bool_())])
    return directories_of(pa.concat_tables([born, others]).unify_dictionaries(), answers)


class HotDirs:
    """The share of a directory's coming births that will be hot.

    A directory's owner, its parent's name, its own name and both names together give the expected
    share (``ShrunkenMeans`` over directories). The births so far update it: (hot births +
    ``strength`` x expected share) / (births + ``strength``), the posterior mean under a beta prior
    that is worth ``strength`` births. In training a directory has the weight births / (births +
    ``strength``): about one with many births, less with few.
    """

    def __init__(self, strength: float = 2.0) -> None:
        self.strength = strength
        self.means = ShrunkenMeans(_LEVELS, ["share"])

    def partial_fit(self, table: pa.Table) -> HotDirs:
        """Learn from the directories of a period (``directories``) that have births."""
        table = table.filter(pc.greater(table["births"], 0))
        born, hot = _counts(table)
        weight = born / (born + self.strength)
        self.means.partial_fit(_keys(table), {"share": hot / born}, weight)
        return self

    def shares(self, table: pa.Table) -> Floats:
        """Return for each row of ``features.DIRECTORIES`` the share of coming births, 0 to 1.

        The row's ``births`` and ``hot_births`` are those so far: 0 at its creation.
        """
        born, hot = _counts(table)
        expected = self.means.predict(_keys(table))["share"]
        return np.asarray((hot + self.strength * expected) / (born + self.strength))

    def predict(self, table: pa.Table, share: float = SHARE) -> pa.BooleanArray:
        """Return whether each directory's share is at least ``share``."""
        return pa.array(self.shares(table) >= share)

    def save(self, directory: parts.Part) -> list[str]:
        """Write the sums to a file in ``directory``; return its name in a list."""
        parts.write_table(directory / _FILE, self.means.sums_)
        return [_FILE]

    @classmethod
    def load(cls, directory: parts.Part, strength: float = 2.0) -> HotDirs:
        """Read what ``save`` wrote to ``directory``.

        Raises ``predictor.parts.DamagedModelError`` if the file is damaged.
        """
        model = cls(strength)
        model.means.sums_ = parts.read_table(directory / _FILE, model.means.schema)
        return model


def _keys(table: pa.Table) -> pa.Table:
    return table.select(["owner", "parent_name", "name"])


def _counts(table: pa.Table) -> tuple[Floats, Floats]:
    born, hot = (np.asarray(table[c], dtype=np.float64) for c in ("births", "hot_births"))
    return born, hot
