"""The three sentences at the top of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from birthmark.serving.page.audited import Audited
from birthmark.serving.page.warnings import Concern
from birthmark.training.reports.verdict import Before, Night, Verdict, guessed, of_nights, of_test

_LOGGED = "Nothing now: the next birthmark audit measures the accuracy."
_NOT_LOGGED = "Log the predictions (--log-predictions), so that birthmark audit can measure them."


def verdict(
    audits: Sequence[Audited],
    concerns: Iterable[Concern],
    card: Mapping[str, Any] | None,
    is_logged: bool,
) -> Verdict:
    """Return the accuracy of the answers by the last audits, or by the model card before any."""
    urgent = (each.to_do for each in concerns if each.level != "note")
    to_do = list(dict.fromkeys(filter(None, urgent)))
    nights = [night for each in audits if (night := _night(each)).n]
    if nights:
        return of_nights(nights[-2:], to_do)
    tested = _tested(card)
    done = " ".join(to_do[:2]) or (_LOGGED if is_logged else _NOT_LOGGED)
    why = "no answer could be joined to a file yet" if audits else "nothing was audited yet"
    if tested is None:
        return Verdict(f"Unknown: {why}.", "There is nothing to compare yet.", done)
    right = f"{why.capitalize()}. When it was trained: {tested.right}"
    return Verdict(right, tested.compared, done)


def _night(audit: Audited) -> Night:
    """Return the sums of an audit over predicates whose answers distinguish no from unsure."""
    figures = [each for each in audit.figures.values() if each.n and each.coverage is not None]
    decided = [(each.n * (each.coverage or 0) / 100, each.accuracy or 0) for each in figures]
    return Night(
        audit.name,
        sum(each.n for each in figures),
        round(sum(n for n, _ in decided)),
        round(sum(n * accuracy / 100 for n, accuracy in decided)),
        guessed((each.n, each.guess) for each in figures),
    )


def _tested(card: Mapping[str, Any] | None) -> Verdict | None:
    """Return the verdict of the test on a model card; None if there was none."""
    test = (card or {}).get("test")
    if not card or not test:
        return None
    drift = card.get("drift")
    return of_test(test["figures"], before=Before.on_card(drift, test["day"]) if drift else None)
