"""The parameters of the models: meaning, range and default of each.

They are declared only here; the settings of training and the command line's options use them.
"""

from __future__ import annotations

from pydantic import Field

from birthmark.data.settings import Strict

REGION = "4M"
"""Size of the thesis's region, in which a file system places hot data (section 7.1)."""


class Parameters(Strict):
    """How models are trained, and the bounds on their wrong answers."""

    minfrac: float = Field(
        default=0.8,
        ge=0,
        le=1,
        description="name model: least share of a component's files that makes it a rule",
    )
    mincount: int = Field(
        default=5, ge=0, description="name model: least number of files that makes a rule"
    )
    prefix: bool = Field(
        default=True, description="name and rules models: learn from a name's first five bytes, too"
    )
    purity: float | None = Field(
        default=1.0,
        ge=0.5,
        le=1,
        description="able model: share of one answer at which a node of the tree is not split",
    )
    trees: int = Field(default=16, ge=1, description="forest model: number of trees")
    rounds: int = Field(default=32, ge=0, description="forest model: number of boosted trees")
    seed: int = Field(
        default=0, ge=0, lt=2**32, description="forest model: seed of its random numbers"
    )
    behind: float = Field(
        default=0.02,
        ge=0,
        description="follower lag to assume in training, in seconds",
    )
    calibration: float = Field(
        default=0.2,
        ge=0,
        le=0.5,
        description="share of the files in a fold of the calibration; 0: no calibration",
    )
    bound: float = Field(
        default=0.01, gt=0, lt=1, description="greatest share of all files wrongly answered yes"
    )
    confidence: float = Field(
        default=0.95, gt=0.5, lt=1, description="confidence with which both bounds hold"
    )
    false_negative_bound: float = Field(
        default=0.01, gt=0, lt=1, description="greatest share of all files wrongly answered no"
    )


DEFAULTS = Parameters()
"""The parameters where none are given."""
