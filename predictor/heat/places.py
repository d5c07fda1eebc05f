"""The files and directories, by owner and name, for a small region of the disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Floats
from birthmark.data.common.sums import summed
from birthmark.data.schema import field
from birthmark.features import name_pieces
from birthmark.predictor import parts
from birthmark.predictor.heat.means import ShrunkenMeans

PLACES = pa.schema(
    [
        field("uid", pa.uint32(), "owner; null: not known"),
        field("name", pa.binary(), "name; null: not known"),
        field("things", pa.float64(), "how many there were", nullable=False),
        field("worth", pa.float64(), "what they are worth to the region", nullable=False),
        field("size", pa.float64(), "how much of them that is spread over", nullable=False),
        field("room", pa.float64(), "the room that they take in the region", nullable=False),
    ]
)
"""One row per owner and name: sums over the things that have both."""

_SUMS = PLACES.names[2:]


class Places:
    """The worth of things to a region, by the attributes that a kernel knows: owner and name.

    A thing's score is the worth of similar ones, divided by their size: ``ShrunkenMeans`` of both
    over ``levels``, whose keys consist of ``uid``, ``suffix`` (after the name's last period) and
    ``name``. Things are selected by score, the highest first, as ``heat.fill`` selects files, as
    far as they fitted in training (``bar``).

    After ``fit``, ``learned_`` is a table of ``PLACES``.
    """

    def __init__(self, file: str, levels: Sequence[Sequence[str]]) -> None:
        self.file = file
        self.levels = levels
        self.learned_ = PLACES.empty_table()

    def fit(self, things: pa.Table) -> Self:
        """Learn the things of a period: a table with the columns of ``PLACES``, in any order."""
        order = [("uid", "ascending"), ("name", "ascending")]
        self.learned_ = summed(things, ["uid", "name"], _SUMS).cast(PLACES).sort_by(order)
        return self

    def scores(self, uid: Any = None, suffix: Any = None, name: Any = None) -> Floats:
        """Return the score of things by their known columns (None: unknown).

        A value that is null, or was never seen, is ignored; without any the score is 0.
        """
        things = np.asarray(self.learned_["things"])
        mean = {c: np.asarray(self.learned_[c]) / np.maximum(things, 1) for c in ("worth", "size")}
        means = ShrunkenMeans(self.levels, list(mean), overall=False)
        means.partial_fit(_keys(**self.known()), mean, things)
        estimates = means.predict(_keys(uid, suffix, name))
        size = estimates["size"]
        return np.divide(estimates["worth"], size, out=np.zeros_like(size), where=size > 0)

    def known(self) -> dict[str, pa.Array]:
        """Return owner, suffix and name of each row of ``learned_``."""
        uid, name = (self.learned_[column].combine_chunks() for column in ("uid", "name"))
        return {"uid": uid, "suffix": name_pieces(name)["last"], "name": name}

    def bar(self, room: float, least: float = 0.0, partly: bool = False) -> float:
        """Return the lowest score whose things, and all of higher scores, fit in ``room``.

        If not even those of the highest score fit, it is the highest: some of them will. With
        ``partly`` the first things that do not fit count, too, unless others have the same score.
        Scores below ``least``, and 0, do not count; without any other the result is infinite.
        """
        scores = self.scores(**self.known())
        order = np.argsort(-scores, kind="stable")
        ranked, own = scores[order], np.asarray(self.learned_["room"])[order]
        used = np.cumsum(own)
        whole = np.append(ranked[1:] < ranked[:-1], True)  # with all others of the same score
        fits = (used - own < room) if partly else whole & (used <= room)
        wanted = (ranked > 0) & (ranked >= least)
        best = ranked[wanted][:1]
        return float(np.concatenate([[np.inf], best, ranked[fits & wanted]])[-1])

    def save(self, directory: parts.Part) -> list[str]:
        """Write ``learned_`` to a file in ``directory``; return its name in a list."""
        parts.write_table(directory / self.file, self.learned_)
        return [self.file]

    def load(self, directory: parts.Part) -> Self:
        """Read what ``save`` wrote to ``directory``.

        Raises ``predictor.parts.DamagedModelError`` if the file is damaged.
        """
        self.learned_ = parts.read_table(directory / self.file, PLACES)
        return self


def _keys(uid: Any, suffix: Any, name: Any) -> pa.Table:
    columns = {"uid": uid, "suffix": suffix, "name": name}
    rows = next(len(column) for column in columns.values() if column is not None)
    return pa.table(
        {k: pa.nulls(rows, pa.binary()) if c is None else c for k, c in columns.items()}
    )
