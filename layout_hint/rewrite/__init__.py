"""Sub-snapshots and rewritten traces: a trace as a benchmark (thesis section 3.6.4).

``build`` learns from a section of a trace what must have existed for it to go as it went, and
rewrites it so that it can be replayed: on a simulated layout by ``birthmark.layout_hint.replay``,
on a real file system by ``birthmark.research.replay``.
"""

from birthmark.layout_hint.rewrite.build import BuildSummary, build

__all__ = ["BuildSummary", "build"]
