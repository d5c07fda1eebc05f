"""Sub-snapshots and rewritten traces: a trace as a benchmark (thesis section 3.6.4).

``build`` learns from a section of a trace what must have existed for it to go as it went, and
rewrites it so that it can be replayed; ``run`` makes that file system and performs the trace on it.
"""

from birthmark.data.replay.build import BuildSummary, build
from birthmark.data.replay.run import Difference, RunSummary, run

__all__ = ["BuildSummary", "Difference", "RunSummary", "build", "run"]
