"""Performing a rewritten trace on a real file system (thesis section 3.6.4).

``run`` makes the files of a build's manifest (``birthmark.layout_hint.rewrite``), performs its
operations on them, and compares how they end.
"""

from birthmark.research.replay.run import Difference, RunSummary, run

__all__ = ["Difference", "RunSummary", "run"]
