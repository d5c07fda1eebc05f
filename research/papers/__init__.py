"""Papers behind the storage simulator: their claims, and the simulator's results."""

from birthmark.research.papers.claims import Claim, Figures, Judged, Paper, judge

__all__ = ["Claim", "Figures", "Judged", "Paper", "judge"]
