"""What a test of a model comes to, in three sentences: they lead every report."""

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
"""So many predicates are named in a sentence; the others are counted."""

CONCERNS = 2
"""So many things to do are told at once, those first that matter most."""


@dataclass(frozen=True)
class Before:
    """The version that was published before, and how right both were about the same (percent).

    The shares are None where they were not tested together, `day` where it was no whole day.
    """

    version: str
    correct: float | None = None
    now: float | None = None
    day: str | None = None

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Before | None:
        """Return what a version's manifest tells of the version before; None if there was none."""
        if manifest.get("compared_with") is None:
            return None
        made = manifest.get("decision") or {}
        found = (made.get(name) for name in ("champion", "candidate", "day"))
        return cls(manifest["compared_with"], *found)

    @classmethod
    def on_card(cls, drift: Mapping[str, Any], day: str | None) -> Before:
        """Return what a card's `drift` tells, of a test on `day`."""
        shares = [row["correct"] for row in drift["tested"]]
        correct, now = (
            mean(share[when] for share in shares) if shares else None for when in ("before", "now")
        )
        return cls(drift["against"], correct, now, day)

    @property
    def change(self) -> float | None:
        """By how many points it is more often right now."""
        return None if self.correct is None or self.now is None else self.now - self.correct

    def in_words(self) -> str:
        """Return a sentence on both."""
        if self.change is None:
            told = f"birthmark evaluate --version {self.version}"
            return f"Of the version published before, {told} tells the same."
        about = f"about {self.day}" if self.day else "about the same files"
        return (
            f"When it was trained it was right in {shown(self.now)} {about}, and"
            f" {self.version}, published before, in {shown(self.correct)}."
        )


@dataclass(frozen=True)
class Verdict:
    """How right it is; how that compares with guessing, and with what was before; what to do."""

    right: str
    compared: str
    to_do: str

    def lines(self) -> dict[str, str]:
        """Return the sentences behind what they are called."""
        return {"How right": self.right, "Compared": self.compared, "What to do": self.to_do}


def of_test(
    rows: Iterable[Row],
    answers: Iterable[Row] = (),
    before: Before | None = None,
    learned: int = 0,
) -> Verdict | None:
    """Return what a test says of the kind that answers; None where nothing was tested.

    `rows` are those of `EVALUATION` and `answers` those of `ANSWERS` about it; `learned` is from
    how many of the tested files it may have learned.
    """
    tested = [row for row in rows if row["n"]]
    accurate = [row for row in tested if row["point"] == "accurate"]
    bounded = [row for row in tested if row["point"] == "bounded"]
    if not accurate:
        return None
    correct, guess = (mean(row[name] for row in accurate) for name in ("correct", "guess"))
    right = f"{shown(correct)} of its answers, if each must be a yes or a no"
    right += f" (mean of {counted(len(accurate), 'predicates')})."
    concerns = _concerns(accurate, bounded, before, learned)
    to_do = " ".join(islice(concerns, CONCERNS)) or _nothing_to_do(bounded)
    against = before.in_words() if before else "No version was published before."
    return Verdict(right + _served(answers), f"{_guessing(correct, guess)} {against}", to_do)


def _served(answers: Iterable[Row]) -> str:
    """Return a sentence on the three answers, of all predicates together."""
    rows = list(answers)
    n = sum(row["n"] for row in rows)
    unsure = sum(row["n_unsure"] for row in rows)
    wrong = sum(row["n_false_positive"] + row["n_false_negative"] for row in rows)
    if n == unsure:
        return ""
    decided, right = percent(n - unsure, n), percent(n - unsure - wrong, n - unsure)
    return f" As served, it decides {shown(decided)}, of which {shown(right)} are right."


def _guessing(correct: float, guess: float) -> str:
    said = f"A guess, always the more frequent answer, is right in {shown(guess)}"
    if guess >= 100:
        return f"{said}."
    spared = 100 * (correct - guess) / (100 - guess)
    return f"{said}: {spared:.0f}% of its errors are spared." if spared > 0 else f"{said}: no less."


def _concerns(
    accurate: Sequence[Row], bounded: Sequence[Row], before: Before | None, learned: int
) -> Iterator[str]:
    """Yield what is to be done, the most urgent first."""
    if learned:
        yield f"Test it on a later day: it may have learned from {counted(learned, 'files')} here."
    if exceeded := named(over(bounded)):
        yield (
            f"Beware of a yes to {exceeded}: more of them are wrong than was promised."
            " Train on newer days, and let birthmark audit watch what is served."
        )
    if worse := named(row for row in accurate if row["correct"] < row["guess"]):
        yield f"Do not rely on {worse}: a guess is better."
    if before is not None and (before.change or 0) < 0:
        yield "If that lasts, birthmark models rollback brings back the version before."
    if bounded and all(row["block_seconds"] < BURST for row in bounded):
        yield "Test it on a whole day: this time is too short to tell whether the bounds hold."


def _nothing_to_do(bounded: Sequence[Row]) -> str:
    known = [row for row in bounded if row["standing"]]
    unseen = sum(row["standing"] == Standing.UNSEEN for row in known)
    if not known:
        return "Nothing: no bound was promised."
    if not unseen:
        return "Nothing: every bound holds."
    return f"Nothing: no bound is shown broken; more days will tell of {unseen} of {len(known)}."


@dataclass(frozen=True)
class Night:
    """What was answered in one audit, of all predicates together: counts of answers.

    `n` are those whose truth is known, `guess` is how many of them a guess is right about, None if
    that is not known.
    """

    name: str
    n: int
    decided: int
    right: int
    guess: float | None

    @classmethod
    def of(cls, name: str, rows: Iterable[Row]) -> Night:
        """Return the sums of rows of `SERVED` that tell yes, no and unsure apart."""
        known = [row for row in rows if row["n"] and row.get("decided") is not None]
        n, unsure = (sum(row[column] for row in known) for column in ("n", "n_unsure"))
        # what was said may differ from a yes by score alone: answers are made consistent
        right = sum((row["n"] - row["n_unsure"]) * (row["right"] or 0) / 100 for row in known)
        guesses = [(row["n"], row["guess"]) for row in known]
        return cls(name, n, n - unsure, round(right), guessed(guesses))

    def in_words(self) -> str:
        """Return how many were decided, and how many of these came true."""
        decided, right = percent(self.decided, self.n), percent(self.right, self.decided)
        said = f"{shown(decided)} of {self.n:,} answers were a yes or a no"
        return f"{said}, and {shown(right)} of these came true"


def guessed(rows: Iterable[tuple[int, float | None]]) -> float | None:
    """Return of how many answers a guess is right, given so many each and its shares (percent)."""
    found = [None if share is None else n * share / 100 for n, share in rows]
    return None if None in found else sum(filter(None, found))


def of_nights(nights: Sequence[Night], to_do: Iterable[str]) -> Verdict:
    """Return what the last of some audits says, beside the one before, if there was one.

    `to_do` is what there is to do, the most urgent first.
    """
    *before, last = nights
    compared = ""
    if last.guess is not None:
        guess = shown(percent(last.guess, last.n))
        compared = f"A guess, always the more frequent answer, is right in {guess} of all. "
    if before:
        compared += f"In {before[-1].name}, {before[-1].in_words()}."
    else:
        compared += "No audit was before."
    concerns = " ".join(islice(to_do, CONCERNS)) or "Nothing: no bound is shown broken."
    return Verdict(f"{last.in_words()}.", compared, concerns)


def named(rows: Iterable[Row]) -> str:
    """Return the predicates of rows in words, the first of them by name."""
    keys = [key_of(row) for row in rows]
    shown = [*keys[:FEW], f"{len(keys) - FEW} more"] if len(keys) > FEW else keys
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
