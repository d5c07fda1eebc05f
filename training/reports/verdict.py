"""The verdict of a test: three sentences at the head of every report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import mean
from typing import Any

from birthmark.data.common.percentages import percent, shown
from birthmark.data.common.plurals import counted
from birthmark.training.statistics.standing import BURST, Standing, key_of, over

Row = Mapping[str, Any]

FEW = 3
"""Greatest number of predicates named in a sentence; the others are counted."""

CONCERNS = 2
"""Greatest number of things to do, the most urgent first."""


@dataclass(frozen=True)
class Before:
    """The version published before, and the accuracy of both on the same files (percent).

    The accuracies are None without a common test, and `day` is None without a whole day.
    """

    version: str
    correct: float | None = None
    now: float | None = None
    day: str | None = None

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Before | None:
        """Return the version before from a version's manifest; None if there was none."""
        if manifest.get("compared_with") is None:
            return None
        made = manifest.get("decision") or {}
        found = (made.get(name) for name in ("champion", "candidate", "day"))
        return cls(manifest["compared_with"], *found)

    @classmethod
    def on_card(cls, drift: Mapping[str, Any], day: str | None) -> Before:
        """Return the version before from a card's `drift`, of a test on `day`."""
        shares = [row["correct"] for row in drift["tested"]]
        correct, now = (
            mean(share[when] for share in shares) if shares else None for when in ("before", "now")
        )
        return cls(drift["against"], correct, now, day)

    @property
    def change(self) -> float | None:
        """The change of accuracy, in percentage points."""
        return None if self.correct is None or self.now is None else self.now - self.correct

    def in_words(self) -> str:
        """Return a sentence that compares both."""
        if self.change is None:
            return f"For the version published before: birthmark evaluate --version {self.version}."
        tested = f"on {self.day}" if self.day else "on the same files"
        return (
            f"When it was trained, its accuracy was {shown(self.now)} {tested}, and that of"
            f" {self.version}, published before, {shown(self.correct)}."
        )


@dataclass(frozen=True)
class Verdict:
    """The accuracy; its comparison with a baseline and the version before; what to do."""

    right: str
    compared: str
    to_do: str

    def lines(self) -> dict[str, str]:
        """Return the sentences by heading."""
        return {"Accuracy": self.right, "Compared": self.compared, "What to do": self.to_do}


def of_test(
    rows: Iterable[Row],
    answers: Iterable[Row] = (),
    before: Before | None = None,
    learned: int = 0,
) -> Verdict | None:
    """Return the verdict on the served kind; None if nothing was tested.

    `rows` are its rows of `EVALUATION`, and `answers` those of `ANSWERS`; `learned` is the number
    of tested files that may be training data.
    """
    tested = [row for row in rows if row["n"]]
    accurate = [row for row in tested if row["point"] == "accurate"]
    bounded = [row for row in tested if row["point"] == "bounded"]
    if not accurate:
        return None
    correct, guess = (mean(row[name] for row in accurate) for name in ("correct", "guess"))
    right = f"{shown(correct)} if each answer must be a yes or a no"
    right += f" (mean of {counted(len(accurate), 'predicates')})."
    concerns = _concerns(accurate, bounded, before, learned)
    to_do = " ".join(islice(concerns, CONCERNS)) or _nothing_to_do(bounded)
    against = before.in_words() if before else "There is no earlier version."
    return Verdict(right + _served(answers), f"{_guessing(correct, guess)} {against}", to_do)


def _served(answers: Iterable[Row]) -> str:
    """Return a sentence on the three answers to all predicates together."""
    rows = list(answers)
    n = sum(row["n"] for row in rows)
    unsure = sum(row["n_unsure"] for row in rows)
    wrong = sum(row["n_false_positive"] + row["n_false_negative"] for row in rows)
    if n == unsure:
        return ""
    decided, right = percent(n - unsure, n), percent(n - unsure - wrong, n - unsure)
    return f" Accuracy when decided: {shown(right)}; coverage: {shown(decided)}."


def _guessing(correct: float, guess: float) -> str:
    baseline = f"always giving the majority answer ({shown(guess)})"
    if guess >= 100:
        return f"{baseline.capitalize()} makes no errors."
    reduction = 100 * (correct - guess) / (100 - guess)
    fewer = f"{reduction:.0f}%" if reduction > 0 else "No"
    return f"{fewer} fewer errors than {baseline}."


def _concerns(
    accurate: Sequence[Row], bounded: Sequence[Row], before: Before | None, learned: int
) -> Iterator[str]:
    """Yield things to do, the most urgent first."""
    if learned:
        yield f"Test it on a later day: {counted(learned, 'files')} may be training data."
    if exceeded := named(over(bounded)):
        yield (
            f"Beware of a yes to {exceeded}: more are wrong than the bound allows."
            " Train on newer days, and audit served predictions with birthmark audit."
        )
    if worse := named(row for row in accurate if row["correct"] < row["guess"]):
        yield f"Do not rely on {worse}: always giving the majority answer is better."
    if before is not None and (before.change or 0) < 0:
        yield "If that lasts, birthmark models rollback restores the version before."
    if bounded and all(row["block_seconds"] < BURST for row in bounded):
        yield "Test it on a whole day: this time is too short to test the bounds."


def _nothing_to_do(bounded: Sequence[Row]) -> str:
    known = [row for row in bounded if row["standing"]]
    unseen = sum(row["standing"] == Standing.UNSEEN for row in known)
    if not known:
        return "Nothing: there is no bound."
    if not unseen:
        return "Nothing: every bound holds."
    return f"Nothing: no bound is shown broken; {unseen} of {len(known)} need more days."


@dataclass(frozen=True)
class Night:
    """The answers in one audit, for all predicates together.

    `n` is the number with a known outcome, and `guess` the number for which the majority answer is
    correct, None if unknown.
    """

    name: str
    n: int
    decided: int
    right: int
    guess: float | None

    @classmethod
    def of(cls, name: str, rows: Iterable[Row]) -> Night:
        """Return the sums of rows of `SERVED` that distinguish yes, no and unsure."""
        known = [row for row in rows if row["n"] and row.get("decided") is not None]
        n, unsure = (sum(row[column] for row in known) for column in ("n", "n_unsure"))
        # consistent answers can differ from those by score alone
        right = sum((row["n"] - row["n_unsure"]) * (row["right"] or 0) / 100 for row in known)
        guesses = [(row["n"], row["guess"]) for row in known]
        return cls(name, n, n - unsure, round(right), guessed(guesses))

    def in_words(self) -> str:
        """Return the coverage, and the accuracy when decided."""
        decided, right = percent(self.decided, self.n), percent(self.right, self.decided)
        accuracy = f"accuracy when decided {shown(right)}"
        return f"{accuracy}, coverage {shown(decided)} of {self.n:,} answers"


def guessed(rows: Iterable[tuple[int, float | None]]) -> float | None:
    """Return how many answers the majority answer gets right, from numbers and shares."""
    found = [None if share is None else n * share / 100 for n, share in rows]
    return None if None in found else sum(filter(None, found))


def of_nights(nights: Sequence[Night], to_do: Iterable[str]) -> Verdict:
    """Return the verdict of the last of `nights`, compared with the one before, if any.

    `to_do` has things to do, the most urgent first.
    """
    *before, last = nights
    compared = ""
    if last.guess is not None:
        guess = shown(percent(last.guess, last.n))
        compared = f"Always giving the majority answer is correct in {guess} of all. "
    if before:
        compared += f"In {before[-1].name}: {before[-1].in_words()}."
    else:
        compared += "There is no earlier audit."
    concerns = " ".join(islice(to_do, CONCERNS)) or "Nothing: no bound is shown broken."
    accuracy = last.in_words()
    return Verdict(f"{accuracy[0].upper()}{accuracy[1:]}.", compared, concerns)


def named(rows: Iterable[Row]) -> str:
    """List the predicates of rows: the first ``FEW`` by name, then how many more."""
    keys = [key_of(row) for row in rows]
    shown = [*keys[:FEW], f"{len(keys) - FEW} more"] if len(keys) > FEW else keys
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
