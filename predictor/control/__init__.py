"""Threshold control: thresholds that follow the outcomes, to keep the bound under drift."""

from birthmark.predictor.control.control import Control, Row
from birthmark.predictor.control.controller import Controller, ControlSettings
from birthmark.predictor.control.followed import FollowedControl
from birthmark.predictor.control.ledger import Ledger
from birthmark.predictor.control.outcomes import UNKNOWN, Outcomes, horizon, outcomes

__all__ = [
    "UNKNOWN",
    "Control",
    "ControlSettings",
    "Controller",
    "FollowedControl",
    "Ledger",
    "Outcomes",
    "Row",
    "horizon",
    "outcomes",
]
