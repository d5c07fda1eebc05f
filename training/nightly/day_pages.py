"""A page for people about each day: the server's busiest, changes, and advice.

<dataset>/day.json     its figures, for comparison by the next day's page
<dataset>/day.html     the page; a copy of the newest is beside the registry's versions
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from joblib import delayed

from birthmark.data.common import durable
from birthmark.training.config import Config
from birthmark.training.engine import current
from birthmark.training.nightly.intake import Dataset, estimated_loss, warnings
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.day import Figures, measure, render
from birthmark.training.reports.labels import DAY_HTML, DAY_JSON, EVALUATION_JSON
from birthmark.training.reports.verdict import Verdict, of_test

Advise = Callable[[Path], Sequence[str]]
"""Returns advice for the server of a dataset, in sentences."""

LOSS = 0.01
"""Share of lost messages above which the page mentions them."""


def lacking(config: Config, held: Sequence[Dataset]) -> list[Dataset]:
    """Return the datasets of the newest window that have no page yet."""
    if not config.day_page.enabled or not held:
        return []
    since = max(dataset.until for dataset in held) - timedelta(days=config.training.window_days)
    return [d for d in held if d.until >= since and not (d.path / DAY_HTML).exists()]


def write_pages(
    registry: Registry, held: Sequence[Dataset], missing: Sequence[Dataset], advise: Advise | None
) -> None:
    """Write the missing pages, and copy the newest into the registry."""
    measured = delayed(_measure)
    current().run(measured(dataset.path) for dataset in missing)
    for dataset in missing:
        text = _page(registry, dataset.path, _before(held, dataset), advise)
        durable.write_text(dataset.path / DAY_HTML, text)
    if missing:
        newest = held[-1].path / DAY_HTML
        registry.write(DAY_HTML, newest.read_bytes())


def _measure(dataset: Path) -> None:
    text = json.dumps(measure(dataset).to_json(), indent=1) + "\n"
    durable.write_text(dataset / DAY_JSON, text)


def _figures(dataset: Path) -> Figures:
    return Figures(**json.loads((dataset / DAY_JSON).read_bytes()))


def _before(held: Sequence[Dataset], dataset: Dataset) -> Figures | None:
    """Return the figures of the newest earlier day of one of the same servers."""
    day = _figures(dataset.path)
    for other in reversed(held):
        if other.until < dataset.until and (other.path / DAY_JSON).exists():
            figures = _figures(other.path)
            if set(figures.servers) & set(day.servers):
                return figures
    return None


def _page(registry: Registry, dataset: Path, before: Figures | None, advise: Advise | None) -> str:
    verdict, answers = _tested(registry, dataset)
    to_do = [*warnings(dataset), *_loss(dataset), *(advise(dataset) if advise else ())]
    if verdict:
        to_do.append(verdict.to_do)
    return render(_figures(dataset), before, verdict, answers, to_do or ["Nothing."])


def _tested(registry: Registry, dataset: Path) -> tuple[Verdict | None, list[Mapping[str, Any]]]:
    """Return the verdict of the test on a dataset, and the answers of the model served then.

    Nothing if there was no test, or if it was by an earlier release or of a removed version.
    """
    if not (dataset / EVALUATION_JSON).exists():
        return None, []
    evaluation = json.loads((dataset / EVALUATION_JSON).read_bytes())
    if "answers" not in evaluation or evaluation["version"] not in registry.versions():
        return None, []
    manifest = registry.manifest(evaluation["version"])
    kind, point = manifest["serve"], manifest["point"]
    figures = [row for row in evaluation["figures"] if row["model"] == kind]
    answers = [
        row for row in evaluation["answers"] if (row["model"], row["point"]) == (kind, point)
    ]
    return of_test(figures, answers), answers


def _loss(dataset: Path) -> list[str]:
    share = estimated_loss(dataset)
    if share is None or share < LOSS:
        return []
    return [
        f"{share:.1%} of the messages were lost before the capture, so files are missing"
        " here: give the capture a larger buffer, or a faster disk."
    ]
