"""The predicates of heat: ``HotName`` and ``HotDir`` of thesis chapter 7, and ``HotWrite``.

Choices where chapter 7 leaves them open:

- **HotName** is "any file that the models predict will be short-lived and/or zero-length". The
  thesis does not define short-lived; here it is five seconds, as in its definition of a lock and
  the bound of its tables at which the name model is much better (section 6.4). The predicate is
  about the file itself, so that one model learns it, whereas the thesis joins two predictions.
- **HotDir** holds of directories that "contain files that have the HotName property". The thesis
  lists home, mail spool and cache directories; here it holds where at least half of the files
  born in the directory, of those whose HotName is known, are HotName.
- **HotWrite** answers the thesis's finding that on DEAS03 most of the hottest writes go to log
  files that neither finds (section 7.2). It holds for a file whose blocks were written
  ``TIMES_OVER`` times each, on average, and at least ``TIMES_AN_HOUR`` times per hour of its life.
  Blocks are of 4 KB (``predictor.predicates.blocks``). Every block must be written once, so four
  times is repeatedly; and a region written less than once an hour per block is no better than the
  rest of the disk. Both apply to the observed life; for a file still alive, and observed for less
  than ``WATCHED`` seconds, a no is unknown.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import HOUR, SECOND
from birthmark.predictor.predicates import blocks
from birthmark.predictor.predicates.predicate import Predicate, Subject
from birthmark.predictor.predicates.rules import GOES_ON, in_ranges

SHORT = 5
"""Seconds of life that make a file short-lived."""

TIMES_OVER, TIMES_AN_HOUR, WATCHED = 4, 1, 60

SHARE = 0.5
"""The share of a directory's births that must be ``HotName``."""


def hot_name(table: pa.Table, subject: Subject, short: float = SHORT) -> pa.Array:
    """Return whether a file was always empty, or lived for at most ``short`` seconds."""
    empty = in_ranges(table, subject, size=(None, 0))
    return pc.or_kleene(empty, in_ranges(table, subject, lifespan=(None, round(short * SECOND))))


def hot_write(
    table: pa.Table, subject: Subject, over: float = TIMES_OVER, hourly: float = TIMES_AN_HOUR
) -> pa.Array:
    """Return whether each of a file's blocks was written ``over`` times, and ``hourly`` an hour.

    For a life that goes on, a yes is final. The answer is no only once the life is so old that
    writes at the least rate would have reached ``over``, and it was written less often.
    """
    written, own = blocks.block_writes(table), blocks.own_blocks(table)
    hours = blocks.hours_watched(table)
    often = pc.and_(pc.greater(own, 0), pc.greater_equal(written, pc.multiply(own, over)))
    least = pc.multiply(pc.multiply(own, hours), hourly)
    rapid = pc.greater_equal(written, least)
    hot = pc.and_(often, rapid)
    if GOES_ON in table.column_names:
        old = pc.greater_equal(pc.multiply(hours, hourly), over)
        open_ended = pc.and_(table[GOES_ON], pc.invert(pc.and_(old, pc.invert(rapid))))
    else:
        young = pc.less(hours, WATCHED * SECOND / HOUR)
        open_ended = pc.and_(young, pc.invert(table["death_seen"]))
    undecided = pc.and_(pc.invert(hot), open_ended)
    return pc.if_else(undecided, pa.scalar(None, pa.bool_()), hot)


def hot_dir(table: pa.Table, subject: Subject, share: float = SHARE) -> pa.Array:
    """Return whether at least ``share`` of a directory's births are hot; unknown without births.

    ``table`` has the columns of ``features.DIRECTORIES``.
    """
    born, hot = (table[column].cast(pa.float64()) for column in ("births", "hot_births"))
    enough = pc.greater_equal(hot, pc.multiply(born, share))
    return pc.if_else(pc.greater(born, 0), enough, pa.scalar(None, pa.bool_()))


HEAT_PREDICATES = {
    "HotName": Predicate(
        "HotName",
        "file",
        "always empty, or lives for at most five seconds",
        "thesis chapter 7; how short is ours",
        hot_name,
    ),
    "HotWrite": Predicate(
        "HotWrite",
        "file",
        "its blocks of 4 kB are written four times each, and once in an hour of its life",
        "ours, after what thesis section 7.2 says of log files",
        hot_write,
    ),
}
"""The predicates of heat about files, by name."""

DIRECTORY_PREDICATES = {
    "HotDir": Predicate(
        "HotDir",
        "directory",
        "at least half of the files born in it are HotName",
        "thesis chapter 7, learned where that has a list",
        hot_dir,
    ),
}
"""The predicates about directories, by name; their keys begin with ``directory:``."""
