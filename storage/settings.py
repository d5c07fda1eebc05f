"""What the storage simulator may be told. Commands make their options of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from birthmark.data.settings import Strict

PaperNumber = Literal["000", "003", "004"]
"""The papers whose claims are tried."""


class Options(Strict):
    """What a trace is replayed on."""

    drive: str = Field(description="drive: a name, or a file that ends in .toml")


class PaperOptions(Strict):
    """How often a paper's experiments are run."""

    paper: PaperNumber = Field(description="number of the paper")
    seeds: int = Field(default=10, ge=1, le=1000, description="runs, each with a seed of its own")
    jobs: int = Field(default=2, ge=1, description="number of runs at a time")
