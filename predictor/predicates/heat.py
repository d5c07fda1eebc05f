"""The predicates of heat: ``HotName`` and ``HotDir`` of thesis chapter 7, and ``HotWrite``.

Where chapter 7 is silent, and for what it lacks:

- **HotName** is "any file that the models predict will be short-lived and/or zero-length". How
  short is not said there; here it is five seconds, as in its definition of a lock: of the three
  bounds of its tables, the one of which section 6.4 says that the name model is much better at.
  The question is put to the file itself, so that one model learns it, where the thesis joins what
  two predict.
- **HotDir** holds of directories that "contain files that have the HotName property". The thesis
  lists home, mail spool and cache directories; here it holds where at least half of the files
  born in the directory, of those whose HotName is known, are HotName.
- **HotWrite** answers the thesis's finding that on DEAS03 most of the hottest writes go to log
  files that neither finds (section 7.2). It holds of a file whose blocks were written
  ``TIMES_OVER`` times each, on average, and ``TIMES_AN_HOUR`` or more in each hour of its life.
  Blocks are of 4 KB (``predictor.predicates.blocks``). Every block must be written once to be there
  at all: four times is over and over, and a region that is written less than once an hour per block
  is no better off than the rest of the disk. Both are of the life as far as it was watched; a file
  that was still alive, and watched for less than ``WATCHED`` seconds, may yet be written.
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

    Of a life that goes on, a yes stands; a no is given only once the life is so old that writes
    at the least rate would have reached ``over``, and it was written less often than that.
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
