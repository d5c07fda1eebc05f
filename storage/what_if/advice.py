"""Advice about the server of a dataset, for the day's page, by the entry point ``what-if``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from birthmark.training.config import Config


def advice(settings: Config, dataset: Path) -> list[str]:
    """Return the conclusions from comparing the configured variants, or why there are none."""
    config = settings.day_page.what_if
    if config is None:
        return []
    from birthmark.storage.what_if import report
    from birthmark.storage.what_if.calls import survey
    from birthmark.storage.what_if.compare import compare
    from birthmark.storage.what_if.fit import fit
    from birthmark.storage.what_if.settings import WhatIfOptions
    from birthmark.storage.what_if.variants import questions

    asked, asks = WhatIfOptions(), questions(config, ())
    try:
        fitted = fit(survey(dataset, None), asks.known(), asked)
        verdict = report.verdict(compare(fitted, asks.variants, asked))
    except ValueError as error:
        return [f"The variants of {config} were not compared: {error}"]
    return [verdict.compared, verdict.to_do]
