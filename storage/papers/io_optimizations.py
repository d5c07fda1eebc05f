"""Hsu and Smith on I/O optimizations and disk improvements, beside the simulator."""

from __future__ import annotations

from birthmark.layout_hint.disks.ultrastar import ASSUMED
from birthmark.storage.papers import io_fits, io_reads, io_trends
from birthmark.storage.papers.claims import Figures, Paper
from birthmark.storage.papers.io_experiments import measure_all
from birthmark.storage.papers.io_figures import figures
from birthmark.storage.papers.io_pictures import draw


def measure(seed: int) -> Figures:
    """Return the figures of all experiments with a seed."""
    return figures(measure_all(seed))


PAPER = Paper(
    number="003",
    title=(
        "W. W. Hsu, A. J. Smith: The performance impact of I/O optimizations and disk improvements,"
        " IBM J. R&D 48(2), 2004"
    ),
    assumptions=(
        f"drives: {ASSUMED}",
        "loads: their traces are not public; these are made up, and fitted to the figures in the"
        " rows named after them, which are no claims",
        "each class is one load: theirs is a mean of 14 traces (P, Ps) or 3 (S); Ps is P on an"
        " infinitely fast machine",
        "the generator of the loads was changed three times after claims had been looked at: new"
        " places are near one another at any scale up to 4 MB (after B4), runs of writes follow"
        " Table 6 (after B8), and episodes take place at once (after B2, B4, B6, B10, B12, B14, B18"
        " and B20 had failed); of these none is counted that came out since",
        "B25 is tried on made-up loads",
    ),
    claims=(*io_reads.CLAIMS, *io_trends.CLAIMS, *io_fits.FITS),
    measure=measure,
    draw=draw,
)
