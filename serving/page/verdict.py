"""The three sentences that lead the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from birthmark.serving.page.audited import Audited
from birthmark.serving.page.warnings import Concern
from birthmark.training.reports.verdict import Before, Night, Verdict, guessed, of_nights, of_test

_LOGGED = "Nothing now: the next birthmark audit tells how right it is."
_NOT_LOGGED = "Have what is served logged (--log-predictions), for birthmark audit to tell."


def verdict(
    audits: Sequence[Audited],
    concerns: Iterable[Concern],
    card: Mapping[str, Any] | None,
    is_logged: bool,
) -> Verdict:
    """Return how right what was served is, by the last audit; before that, what the card says."""
    urgent = (each.to_do for each in concerns if each.level != "note")
    to_do = list(dict.fromkeys(filter(None, urgent)))
    nights = [night for each in audits if (night := _night(each)).n]
    if nights:
        return of_nights(nights[-2:], to_do)
    tested = _tested(card)
    done = " ".join(to_do[:2]) or (_LOGGED if is_logged else _NOT_LOGGED)
    why = "no answer could be joined to a file yet" if audits else "nothing was audited yet"
    if tested is None:
        return Verdict(f"It is not known: {why}.", "There is nothing to compare yet.", done)
    right = f"{why.capitalize()}. When it was trained: {tested.right}"
    return Verdict(right, tested.compared, done)


def _night(audit: Audited) -> Night:
    """Return the sums of an audit, of whose answers yes, no and unsure are told apart."""
    figures = [each for each in audit.figures.values() if each.n and each.decided is not None]
    decided = [(each.n * (each.decided or 0) / 100, each.right or 0) for each in figures]
    return Night(
        audit.name,
        sum(each.n for each in figures),
        round(sum(n for n, _ in decided)),
        round(sum(n * right / 100 for n, right in decided)),
        guessed((each.n, each.guess) for each in figures),
    )


def _tested(card: Mapping[str, Any] | None) -> Verdict | None:
    """Return what a card says of the test when it was made; None where there was none."""
    test = (card or {}).get("test")
    if not card or not test:
        return None
    drift = card.get("drift")
    return of_test(test["figures"], before=Before.on_card(drift, test["day"]) if drift else None)
