"""Claims of a paper, and whether the simulator reproduces them.

A paper is measured once per seed. Each measurement is a flat mapping of named figures, from which
each claim selects some. A claim to which the simulator was fitted is shown, but never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Figures = Mapping[str, float]
"""Results of one run of a paper's experiments, by name."""

Verdict = Literal["reproduced", "not reproduced", "fitted"]


@dataclass(frozen=True)
class Claim:
    """A sentence or a figure of a paper, and its test.

    Attributes:
        name: A1 to C13.
        where: figure, table or section.
        says: the claim in words.
        printed: the value as printed.
        tolerance: the test in words.
        ours: selects the compared values from the figures of a run, each under a short label.
        holds: whether such values pass the test.
        fitted: the simulator was calibrated to it.
        reason: why it is not reproduced, or the data to which it was fitted.
    """

    name: str
    where: str
    says: str
    printed: str
    tolerance: str
    ours: Callable[[Figures], Figures]
    holds: Callable[[Figures], bool]
    fitted: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: its claims, and the experiments that test them.

    Attributes:
        number: of the paper among the project's, "000" for instance.
        title: authors, title, where and when.
        assumptions: what was assumed or fitted; every output states it.
        claims: in the order of their names.
        measure: runs the experiments with a seed.
        draw: draws the paper's figures from the runs into a folder; returns the files.
    """

    number: str
    title: str
    assumptions: tuple[str, ...]
    claims: tuple[Claim, ...]
    measure: Callable[[int], Figures]
    draw: Callable[[Sequence[Figures], Path], list[Path]]


@dataclass(frozen=True)
class Judged:
    """A claim, and its result over the runs.

    Attributes:
        claim: the claim.
        verdict: whether the means of its values over the runs pass, if it was not fitted.
        means, least, most: of each value over the runs.
        held: the number of runs in which it holds alone.
        runs: the number of runs.
    """

    claim: Claim
    verdict: Verdict
    means: Figures
    least: Figures
    most: Figures
    held: int
    runs: int


def judge(claim: Claim, runs: Sequence[Figures]) -> Judged:
    """Return the result of a claim over at least one run."""
    values = [claim.ours(run) for run in runs]
    labels = values[0].keys()
    means = {label: sum(each[label] for each in values) / len(values) for label in labels}
    verdict: Verdict = "reproduced" if claim.holds(means) else "not reproduced"
    return Judged(
        claim=claim,
        verdict="fitted" if claim.fitted else verdict,
        means=means,
        least={label: min(each[label] for each in values) for label in labels},
        most={label: max(each[label] for each in values) for label in labels},
        held=sum(claim.holds(each) for each in values),
        runs=len(values),
    )


def between(least: float, most: float) -> Callable[[Figures], bool]:
    """Return a test that every value is in a range."""
    return lambda values: all(least <= value <= most for value in values.values())


def pick(**names: str) -> Callable[[Figures], Figures]:
    """Return a function that selects figures by name, each under a label."""
    return lambda figures: {label: figures[name] for label, name in names.items()}
