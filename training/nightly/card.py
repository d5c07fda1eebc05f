"""A model's card: its training data, accuracy by group, and error bounds.

After M. Mitchell et al., "Model Cards for Model Reporting" (FAT* 2019). Training writes it among
the version's parts, for people (`card.html`) and for programs (`card.json`), deterministically.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from birthmark.data.generated import describe
from birthmark.predictor import Point, TrainedModel
from birthmark.training.nightly.compare import Comparison
from birthmark.training.registry.stored import Stored
from birthmark.training.reports.bounded import failures
from birthmark.training.reports.labels import CARD_HTML, CARD_JSON
from birthmark.training.reports.report import page
from birthmark.training.reports.verdict import Before, Verdict, of_test
from birthmark.training.statistics.standing import in_words

_ABOUT = ("datasets", "generated", "servers", "since", "until", "files", "names", "loss")
_SHOWN = 10  # rules in a list
_TELLING = 24  # rules; several are about the same part of a name


def save_card(card: Mapping[str, Any], directory: Path) -> None:
    """Write a card, for people and for programs."""
    text = json.dumps(card, indent=1, allow_nan=False)
    (directory / CARD_JSON).write_text(text + "\n", encoding="utf-8")
    (directory / CARD_HTML).write_text(html_of(card), encoding="utf-8")


def html_of(card: Mapping[str, Any]) -> str:
    """Return a card as one self-contained HTML page."""
    trained = {**card["trained_on"], "marks": describe(card["trained_on"]["generated"])}
    return page("card.html.j2", card={**card, "trained_on": trained}, verdict=verdict(card))


def verdict(card: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a card."""
    test, drift = card["test"], card["drift"]
    found = (
        of_test(test["figures"], before=drift and Before.on_card(drift, test["day"]))
        if test
        else None
    )
    return found or _UNTESTED


_UNTESTED = Verdict(
    "Unknown: it was not tested in training.",
    "There is nothing to compare with.",
    "Test it with birthmark evaluate on a dataset outside of its training data.",
)


def card_of(
    model: TrainedModel,
    manifest: Mapping[str, Any],
    test: Comparison | None,
    champion: Stored | None,
) -> dict[str, Any]:
    """Return the card of a model with this `manifest`, as JSON objects.

    `test` is the test of a model trained the same way on earlier data. `champion` is the model
    published then, for comparison of drift. Both are optional.
    """
    kind = manifest["serve"]
    return {
        "format": 1,
        **{key: manifest[key] for key in ("serve", "point", "parameters", "seed")},
        "trained_on": {key: manifest["trained_on"][key] for key in _ABOUT},
        "bound": _bound(model, kind),
        "test": _test(test, kind) if test else None,
        "rules": _telling(model, kind, manifest["point"]),
        "drift": _drift(model, manifest, test, champion) if champion else None,
    }


def _bound(model: TrainedModel, kind: str) -> dict[str, Any]:
    """Return the error bounds of yes and no, and the evidence for them by predicate."""
    points = {key: model.models[kind].point(key) for key in model.predicates}
    return {
        "bound": 100 * model.limits.yes.bound,
        "false_negative_bound": 100 * model.limits.no.bound,
        "confidence": 100 * model.limits.yes.confidence,
        "predicates": {
            key: {
                "abstains": own.bounded is None,
                "threshold": own.bounded,
                "files": own.n,
                "false_positives": _percent(own.false_positives),
                "upper": _percent(own.upper),
                "no": own.no,
                "false_negatives": _percent(own.false_negatives),
                "no_upper": _percent(own.no_upper),
            }
            for key, own in points.items()
        },
    }


def _telling(model: TrainedModel, kind: str, point: Point) -> list[dict[str, Any]] | None:
    """Return the rules with the greatest error reduction; None without rules.

    Rules about the same part of names are grouped, at the place of the first.
    """
    try:
        first = model.error_reducing_rules(kind, point)[:_TELLING]
    except ValueError:
        return None
    parts = list(dict.fromkeys(rule["rule"] for rule in first))
    return sorted(first, key=lambda rule: parts.index(rule["rule"]))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _test(test: Comparison, kind: str) -> dict[str, Any]:
    """Return the accuracy of the served kind, by group."""
    figures = [row for row in test.assessment.evaluation.to_pylist() if row["model"] == kind]
    period = test.period
    return {
        "day": period.day,
        "since": period.since.isoformat(),
        "before": period.before and period.before.isoformat(),
        "files": test.files,
        "names": test.names,
        "bounds": in_words(figures),
        "figures": figures,
        "failures": {
            by: [{**row, "of": row["of"][kind]} for row in rows if kind in row["of"]]
            for by, rows in failures(test.assessment.breakdown).items()
        },
    }


def _drift(
    model: TrainedModel,
    manifest: Mapping[str, Any],
    test: Comparison | None,
    champion: Stored,
) -> dict[str, Any]:
    """Return the changes from the version published before."""
    trained = champion.manifest["trained_on"]
    return {
        "against": champion.version,
        "since": trained["since"],
        "until": trained["until"],
        "occurs": _occurs(manifest["trained_on"]["labels"], trained["labels"]),
        "tested": _side_by_side(test, manifest["serve"]) if test else [],
        "rules": _rules(model, champion.model),
    }


def _occurs(now: Mapping[str, Any], before: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each predicate's rate in the training data, most changed first."""
    rows = [
        {"predicate": key, "now": _share(now[key]), "before": _share(before[key])}
        for key in now
        if key in before and now[key]["known"] and before[key]["known"]
    ]
    return sorted(rows, key=lambda row: (-abs(row["now"] - row["before"]), row["predicate"]))


def _share(tally: Mapping[str, int]) -> float:
    return 100 * tally["true"] / tally["known"]


def _side_by_side(test: Comparison, kind: str) -> list[dict[str, Any]]:
    """Return both models' figures on the same lives, by predicate."""
    if test.champion is None:
        return []
    tables = (test.assessment.evaluation, test.champion)
    now, before = (
        {
            (row["subject"], row["predicate"], row["point"]): row
            for row in table.to_pylist()
            if row["model"] == kind and row["n"]
        }
        for table in tables
    )
    pairs = {(s, p) for s, p, _ in now} & {(s, p) for s, p, _ in before}
    measured = {"correct": "accurate", "true_positives": "bounded", "false_positives": "bounded"}
    return [
        {"subject": subject, "predicate": predicate}
        | {
            name: {
                "now": now[subject, predicate, point][name],
                "before": before[subject, predicate, point][name],
            }
            for name, point in measured.items()
        }
        for subject, predicate in sorted(pairs)
    ]


def _rules(model: TrainedModel, before: TrainedModel) -> dict[str, Any] | None:
    """Return new and removed rules of the rule lists, by weight.

    None if one of the two has no rule lists.
    """
    if not all("rules" in each.kinds for each in (model, before)):
        return None
    now, then = (
        {(row["predicate"], row["rule"]): row for row in each.rules("rules").to_pylist()}
        for each in (model, before)
    )
    new, gone = (
        [row for key, row in a.items() if key not in b] for a, b in ((now, then), (then, now))
    )
    shown = ("predicate", "rule", "yes", "decides")
    return {
        "kept": len(now) - len(new),
        "new": len(new),
        "gone": len(gone),
        "most_of_new": [{key: row[key] for key in shown} for row in new[:_SHOWN]],
        "most_of_gone": [{key: row[key] for key in shown} for row in gone[:_SHOWN]],
    }
