"""The papers behind the storage simulator: what they claim, and what the simulator says of it."""

from birthmark.storage.papers.claims import Claim, Figures, Judged, Paper, judge

__all__ = ["Claim", "Figures", "Judged", "Paper", "judge"]
