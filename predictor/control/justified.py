"""Limits on how far counted outcomes can have moved a threshold."""

from __future__ import annotations

import math

from birthmark.predictor.control.controller import TRUSTED
from birthmark.predictor.control.settings import ControlSettings


def outcomes_to_lower(settings: ControlSettings) -> int:
    """Return the fewest outcomes after which a threshold can be below its calibrated one.

    That takes n outcomes that all came true. A threshold one bin lower still has the initial false
    positives, bound × trusted × memory, faded by f = e^(-n / memory). It is chosen once these are
    less than aim × bound of the memory's mass: trusted × memory × f from the beginning, and
    (1 - f) / (1 - e^(-1 / memory)) from n outcomes (``Controller``).
    """
    earned = settings.aim / -math.expm1(-1 / settings.memory)
    trusted = TRUSTED * settings.memory * (1 - settings.aim)
    return math.floor(-settings.memory * math.log(earned / (earned + trusted))) + 1


def most_false_positives(settings: ControlSettings, outcomes: int) -> float:
    """Return the number of false positives among ``outcomes`` that exhausts the credit."""
    return settings.credit + settings.bound * outcomes
