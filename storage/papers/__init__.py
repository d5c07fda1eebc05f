"""The papers behind the storage simulator, each as its claims and what the simulator says of them."""

from birthmark.storage.papers.claims import Claim, Figures, Judged, Paper, judge

__all__ = ["Claim", "Figures", "Judged", "Paper", "judge"]
