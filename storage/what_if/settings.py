"""Settings of fitting a server and comparing variants. Commands make their options of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from birthmark.data.settings import Strict
from birthmark.storage.what_if.columns import CLASSES

Metric = Literal["mean", "p50", "p95", "p99"]
"""The figure of a distribution of latencies by which variants are ranked."""


def _an_operation(name: str) -> str:
    """Return the kind of call; raise ValueError for any other word."""
    kinds = ("all", *CLASSES)
    if name.split(" ")[0] not in kinds:
        raise ValueError(f"expected one of {', '.join(kinds)}")
    return name


class FitOptions(Strict):
    """Options of a fit."""

    calls: int = Field(
        default=200_000, ge=1000, description="most calls to fit to, at the end of the first half"
    )
    resamples: int = Field(
        default=20, ge=5, le=1000, description="draws of stretches of time, for the intervals"
    )
    seeds: int = Field(default=3, ge=2, le=100, description="runs, each with another seed")


class WhatIfOptions(FitOptions):
    """Options of comparing variants."""

    operation: Annotated[str, AfterValidator(_an_operation)] = Field(
        default="all", description="calls whose latency ranks: all, read, write, commit, lookup, …"
    )
    metric: Metric = Field(default="mean", description="figure of their latency that ranks")
    outstanding: int = Field(
        default=64,
        ge=1,
        le=100_000,
        description="calls at a time, for the throughput at saturation",
    )
