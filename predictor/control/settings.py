"""Settings of the threshold control."""

from __future__ import annotations

from dataclasses import dataclass

from birthmark.predictor.parameters import DEFAULTS


@dataclass(frozen=True)
class ControlSettings:
    """The settings of a control; invalid ones raise ``ValueError``.

    ``bound`` is the greatest share of false positives among all files. ``memory`` is a number of
    outcomes: each outcome weighs e times as much as one that is ``memory`` older. ``patience`` is
    the number of outcomes whose allowed false positives may occur in advance, in a burst whose
    outcomes are pending. ``aim`` is the target, as a share of the bound; the rest is a margin for
    drift. Without ``on``, thresholds stay as calibrated.
    """

    bound: float = DEFAULTS.bound
    memory: int = 10_000
    patience: int = 20_000
    aim: float = 0.8
    on: bool = True

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not (0 < self.bound < 1 and 0 < self.aim <= 1):
            raise ValueError(f"a bound above 0 and below 1, and an aim within it: found {self}")
        if self.memory < 1 or self.patience < 1:
            raise ValueError(f"a memory and a patience of 1 or more outcomes: found {self}")

    @property
    def credit(self) -> float:
        """The number of false positives allowed in advance of the bound."""
        return self.bound * self.patience
