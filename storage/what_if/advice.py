"""Advice for the server of a dataset, in sentences."""

from __future__ import annotations

from pathlib import Path

from birthmark.storage.what_if import report
from birthmark.storage.what_if.calls import survey
from birthmark.storage.what_if.compare import compare
from birthmark.storage.what_if.fit import fit
from birthmark.storage.what_if.settings import WhatIfOptions
from birthmark.storage.what_if.variants import questions


def advice(config: Path, dataset: Path) -> list[str]:
    """Return the conclusions from comparing a file's variants, or why there are none."""
    asked, asks = WhatIfOptions(), questions(config, ())
    try:
        fitted = fit(survey(dataset, None), asks.known(), asked)
        verdict = report.verdict(compare(fitted, asks.variants, asked))
    except ValueError as error:
        return [f"The variants of {config} were not compared: {error}"]
    return [verdict.compared, verdict.to_do]
