"""How fast a threshold follows the world, and what it may owe."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.predictor.parameters import DEFAULTS


@dataclass(frozen=True)
class ControlSettings:
    """The settings of a control; ``ValueError`` where they are none.

    ``bound`` is the greatest share of false positives among all files. ``memory`` is how many
    outcomes are remembered: each weighs e times as much as one that is so many older. ``patience``
    is for how many outcomes' share of false positives the ledger may be ahead: what is lost to a
    burst before its outcomes are known. ``aim`` is the part of the bound that is aimed at; the rest
    is for worlds that change. Switched off (``on``), thresholds are those of calibration.
    """

    bound: float = DEFAULTS.bound
    memory: int = 10_000
    patience: int = 20_000
    aim: float = 0.8
    on: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no control."""
        if not (0 < self.bound < 1 and 0 < self.aim <= 1):
            raise ValueError(f"a bound above 0 and below 1, and an aim within it: found {self}")
        if self.memory < 1 or self.patience < 1:
            raise ValueError(f"a memory and a patience of 1 or more outcomes: found {self}")

    @property
    def credit(self) -> float:
        """The false positives that may be ahead of the bound."""
        return self.bound * self.patience
