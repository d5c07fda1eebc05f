"""The expected write rates of files' blocks, behind ``HotWrite``."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Floats
from birthmark.data.schema import field
from birthmark.features import from_files, name_pieces
from birthmark.features.columns import decoded
from birthmark.features.components import PREFIX
from birthmark.features.history import shape
from birthmark.predictor import parts
from birthmark.predictor.heat.means import ShrunkenMeans
from birthmark.predictor.labels import births
from birthmark.predictor.predicates import blocks

RATES = pa.schema(
    [
        field("writes_per_hour", pa.float64(), "block writes per hour of its life"),
        field("blocks", pa.float64(), "blocks of 4 KB that it occupies"),
        field("benefit", pa.float64(), "block writes per hour and block"),
        field("hours", pa.float64(), "hours for which such files were watched"),
        field("evidence", pa.float64(), "files that this is learned from"),
    ],
)
"""One row per file: its expected rates."""

_LEVELS = [
    ["suffix"],
    ["prefix", "suffix"],
    ["shape"],
    ["name"],
    ["dir_name", "shape"],
    ["dir_fh", "shape"],
]
_VALUES = ["writes", "hours", "block_hours"]
_LEAST = 3.0
_FILE = "heat-rates.arrow"


class WriteRates:
    """Expected block writes per hour of a file, and the blocks they go to, by its create.

    The model sums block writes, hours lived and blocks times hours of files with the same key
    (suffix, prefix, name with digits folded, and these in the same directory). The quotients are
    rates: files count by the time they were observed, even if not to their end. Small groups shrink
    towards coarser ones (``ShrunkenMeans``; ``strength`` in files), and groups of one or two files
    do not count.
    """

    def __init__(self, strength: float = 1.0) -> None:
        self.means = ShrunkenMeans(_LEVELS, _VALUES, strength, least=_LEAST)

    def partial_fit(self, files: pa.Table) -> WriteRates:
        """Learn from the births in a files table (``data.schema.FILES``)."""
        born = births(files)
        self.means.partial_fit(keys_of(from_files(born)), measured(born))
        return self

    def predict(self, creates: pa.Table) -> pa.Table:
        """Return the ``RATES`` expected of each row of ``creates`` (``features.CREATES``)."""
        return _rates(self.means.predict(keys_of(creates)))

    def reconsider(self, lives: pa.Table) -> pa.Table:
        """Return the expected ``RATES`` of existing files, given their ``lives`` so far.

        ``lives`` has the columns of ``data.schema.FILES``. The expectation at the create is the
        prior, worth ``strength`` files, and the file itself counts as one. The file's own writes
        dominate once it was written more, or observed for longer, than expected. Dead files are
        not written again.
        """
        expected, own = self.means.predict(keys_of(from_files(lives))), measured(lives)
        prior, alive = self.means.strength, ~np.asarray(lives["death_seen"])
        both = {name: (prior * expected[name] + own[name]) / (prior + 1) for name in _VALUES}
        both["writes"] *= alive
        return _rates({"weight": expected["weight"] + 1} | both)

    def save(self, directory: parts.Part) -> list[str]:
        """Write the sums to a file in ``directory``; return its name in a list."""
        parts.write_table(directory / _FILE, self.means.deciding())
        return [_FILE]

    @classmethod
    def load(cls, directory: parts.Part, strength: float = 1.0) -> WriteRates:
        """Read what ``save`` wrote to ``directory``.

        Raises ``predictor.parts.DamagedModelError`` if the file is damaged.
        """
        rates = cls(strength)
        rates.means.sums_ = parts.read_table(directory / _FILE, rates.means.schema)
        return rates


def measured(lives: pa.Table) -> dict[str, Floats]:
    """Return block writes, hours and block hours of each life, as far as it was observed."""
    hours = blocks.hours_watched(lives)
    block_hours = pc.multiply(hours, blocks.own_blocks(lives))
    values = (blocks.block_writes(lives), hours, block_hours)
    return {
        name: np.asarray(value, dtype=np.float64)
        for name, value in zip(_VALUES, values, strict=True)
    }


def _rates(means: dict[str, Floats]) -> pa.Table:
    writes, hours, block_hours = (means[name] for name in _VALUES)
    columns = [
        _quotient(writes, hours),
        _quotient(block_hours, hours),
        _quotient(writes, block_hours),
        hours,
        means["weight"],
    ]
    return pa.table(columns, schema=RATES)


def _quotient(of: Floats, by: Floats) -> Floats:
    return np.divide(of, by, out=np.zeros_like(of), where=by > 0)


def keys_of(creates: pa.Table) -> pa.Table:
    """Return the keys of each row of ``creates`` (``features.CREATES``).

    ``suffix`` is the text after the name's last period, or empty; ``prefix`` its first five bytes,
    as in the thesis's components; ``shape`` the name with numbers and random words folded
    (``features.history.shape``). ``name``, ``dir_name``, ``dir_fh`` and ``uid`` are unchanged.
    """
    names = decoded(creates["name"])
    suffix = pc.coalesce(name_pieces(names)["last"], pc.binary_slice(names, 0, 0))
    keys = {
        "suffix": suffix,
        "prefix": pc.binary_slice(names, 0, PREFIX),
        "shape": shape(names),
    }
    return pa.table(keys | {c: creates[c] for c in ("name", "dir_name", "dir_fh", "uid")})
