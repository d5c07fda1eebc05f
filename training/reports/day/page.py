"""The page of a day: sentences, then tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.training.reports.day import sentences
from birthmark.training.reports.day.figures import Figures
from birthmark.training.reports.report import page
from birthmark.training.reports.verdict import Verdict

TABLES = {
    "user": "Users",
    "client": "Clients",
    "directory": "Directories",
    "file": "Files",
}


def render(
    day: Figures,
    before: Figures | None,
    verdict: Verdict | None,
    answers: Sequence[Mapping[str, Any]],
    to_do: Sequence[str],
) -> str:
    """Return the self-contained page, deterministically.

    Args:
        day: the figures of the day.
        before: the figures of the day before of the same server, if any.
        verdict: that of the published model's test on the day; None: it was not tested.
        answers: rows of `ANSWERS` of the served model.
        to_do: advice, a sentence each.
    """
    answered = list(islice(sentences.model(answers), sentences.PREDICATES))
    return page(
        "day.html.j2",
        day=day,
        load=list(sentences.load(day)),
        changes=list(sentences.changes(day, before)),
        model=[f"Accuracy of the model: {verdict.right}", *answered] if verdict else [],
        to_do=to_do,
        tables={title: day.busiest.get(key, []) for key, title in TABLES.items()},
        endings=[
            (ending, count, percent(count, day.births))
            for ending, count in islice(day.endings.items(), sentences.PREDICATES)
        ],
        total=day.total["ops"],
    )
