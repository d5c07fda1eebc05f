"""What a paper claims, and whether the simulator says so, too.

A paper is measured once per seed. Each measurement is a flat mapping of named figures, of which a
claim takes its own. A claim that the simulator was fitted to is shown, and never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Figures = Mapping[str, float]
"""What one run of a paper's experiments gave, by name."""

Verdict = Literal["reproduced", "not reproduced", "fitted"]


@dataclass(frozen=True)
class Claim:
    """A sentence or a figure of a paper, and what agrees with it.

    Attributes:
        name: A1 to C13.
        where: figure, table or section.
        says: the claim in words.
        printed: the value as printed.
        tolerance: what agrees, in words.
        ours: takes what is compared from the figures of a run, each value under a short label.
        holds: whether such values agree.
        fitted: the simulator was calibrated to it.
        reason: why it is not reproduced, or what it was fitted to.
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
    """A paper: its claims, and the experiments that they are judged by.

    Attributes:
        number: of the paper among the project's, "000" for instance.
        title: authors, title, where and when.
        assumptions: what was assumed or fitted, said in every output.
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
    """A claim, and what the runs say of it.

    Attributes:
        claim: which.
        verdict: whether its values' means over the runs agree, if it was not fitted.
        means, least, most: of each value over the runs.
        held: in how many runs it holds by itself.
        runs: of how many.
    """

    claim: Claim
    verdict: Verdict
    means: Figures
    least: Figures
    most: Figures
    held: int
    runs: int


def judge(claim: Claim, runs: Sequence[Figures]) -> Judged:
    """Return what runs say of a claim; at least one is needed."""
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
    """Return what holds if every value is in a range."""
    return lambda values: all(least <= value <= most for value in values.values())


def pick(**names: str) -> Callable[[Figures], Figures]:
    """Return what takes figures by their names, each under a label."""
    return lambda figures: {label: figures[name] for label, name in names.items()}
