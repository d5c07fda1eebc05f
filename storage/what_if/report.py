"""Fits and comparisons for people and programs: tables, JSON, Parquet and HTML."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import ChoiceLoader, PackageLoader

from birthmark.data.common.durable import replaced, write_text
from birthmark.data.common.plurals import counted
from birthmark.data.common.sizes import in_words
from birthmark.data.generated import in_dataset, label
from birthmark.data.traces import unread
from birthmark.storage.what_if.compare import COUNTS, PARTS, Comparison, Variant, why
from birthmark.storage.what_if.fit import Fit, Unknown
from birthmark.storage.what_if.held_out import METRICS, Row
from birthmark.storage.what_if.pictures import picture
from birthmark.training.reports.environment import pages
from birthmark.training.reports.verdict import Verdict

ERROR_HEADINGS = ("calls", "p50 μs", "predicted", "off", "p95 μs", "predicted", "off", "mean off")
UNKNOWN_HEADINGS = ("fitted", "bounds")
VARIANT_HEADINGS = ("μs", "than now", "p50", "p95", "p99", "calls/s at most", "hits", "busiest")

FIGURES = pa.schema(
    [
        pa.field("variant", pa.utf8(), nullable=False),
        pa.field("kind", pa.utf8(), nullable=False),
        *(pa.field(f"{metric}_us", pa.float64()) for metric in METRICS),
        *(pa.field(f"{metric}_sd_us", pa.float64()) for metric in METRICS),
        *(pa.field(f"{part}_us", pa.float64()) for part in PARTS),
        pa.field("saturated_per_s", pa.float64(), nullable=False),
        pa.field("hit_ratio", pa.float64()),
    ]
)
"""A row for each variant and kind of call: figures, their spread over seeds, and where it goes."""


STEADY = 0.05
"""Greatest difference between the halves at which a server counts as unchanged."""


def error_rows(fit: Fit) -> list[tuple[str, ...]]:
    """Return the kind of call and `ERROR_HEADINGS` of the held-out half."""
    return [_error_row(row) for row in fit.held_out.rows]


def steadiness(fit: Fit) -> str:
    """Return whether the server was the same in both halves, in words."""
    longer = fit.drift.all
    if longer is None:
        return "Too few calls came alone to tell whether the server was the same in both halves."
    if abs(longer) < STEADY:
        steady = "The server was the same in both halves: calls that came alone took as long"
        return f"{steady} ({longer:+.0%})."
    kinds = sorted(fit.drift.kinds.items(), key=lambda own: -abs(own[1]))[:3]
    most = ", ".join(f"{name} {away:+.0%}" for name, away in kinds)
    slower, more = ("slower", "longer") if longer > 0 else ("quicker", "less")
    return (
        f"The server itself was {slower} in the second half: calls that came alone took"
        f" {abs(longer):.0%} {more} than such calls before ({most})."
        " No prediction from the first half knows that."
    )


def unknown_rows(fit: Fit) -> list[tuple[str, ...]]:
    """Return the name and `UNKNOWN_HEADINGS` of each unknown."""
    return [
        (name, _number(own.value, own.unit) or "unknown", _bounds(own))
        for name, own in fit.unknowns.items()
    ]


def unknown_reasons(fit: Fit) -> list[str]:
    """Return why unknowns have no value, or only bounds, a sentence each."""
    return [f"{name}: {own.why}" for name, own in fit.unknowns.items() if own.why]


def variant_rows(of: Comparison) -> list[tuple[str, ...]]:
    """Return the name and `VARIANT_HEADINGS` of each variant, best first."""
    return [(each.name, *_variant_row(of, each)) for each in of.variants]


def conclusion(of: Comparison) -> list[str]:
    """Return the conclusions about variants, a sentence each."""
    kind = of.options.operation
    sentences = []
    for each in of.variants:
        if each is of.now():
            continue
        before = of.before(each)
        verdict, change = of.verdict(each, before), each.value / max(before.value, 1e-3) - 1
        plain = before is of.now()
        than, of_it = ("", "") if plain else (f" than {before.name}", f" from {before.name}")
        if verdict == "cannot be told":
            sentence = f"{each.name}: {_no_difference(each, before)}{of_it} ({change:+.1%})"
        else:
            sentence = (
                f"{each.name}: {verdict}{than} by {abs(change):.0%}: {why(each, before, kind)}"
            )
        sentences.append("; ".join([sentence, *each.notes]))
    return [*sentences, *(f"{name}: {why_not}" for name, why_not in of.not_simulated.items())]


def verdict(of: Comparison) -> Verdict:
    """Return the accuracy of the prediction, the best variant, and the next step."""
    now = of.now()
    others = [each for each in of.variants if each is not now]
    faster = [each for each in others if of.verdict(each, now) == "faster"]
    if not faster:
        none = "No variant is measurably faster than the server as it is."
        return Verdict(promise(of), none, "Leave the server as it is, or try larger changes.")
    best = faster[0]
    change = 1 - best.value / max(now.value, 1e-3)
    helps = f"{best.name} is faster than the server as it is by {change:.0%}"
    most = f", the most of {counted(len(others), 'variants')}" if len(others) > 1 else ""
    return Verdict(promise(of), f"{helps}{most}.", f"Try {best.name} first.")


def _no_difference(one: Variant, other: Variant) -> str:
    """Return the sentence for variants that are not ranked."""
    if one.values != other.values:
        return "no measurable difference"
    in_memory = one.hit_ratio in (None, 1) and other.hit_ratio in (None, 1)
    return f"no difference{', for no read waits for a disk' if in_memory else ''}"


def as_it_is(fit: Fit) -> str:
    """Return the assumed server in words: known, fitted and assumed settings."""
    own = fit.server
    memory = fit.unknowns.get("memory in use")
    assumed = " (assumed: unknown)" if memory is not None and memory.value is None else ""
    disks = f"{own.disks} of {own.drive}" if own.drive else f"{own.disks}, {_times(fit)}"
    return (
        f"{counted(own.threads, 'threads')}, {counted(own.processors, 'processors')},"
        f" {_number(own.memory, 'bytes')} of memory for files{assumed},"
        f" read-ahead {own.read_ahead}, disks: {disks}"
    )


def _times(fit: Fit) -> str:
    """Return the source of its disks' times, in words."""
    words = []
    for of in ("read", "write"):
        own = fit.unknowns.get(f"disk {of}")
        source = "as configured" if own is None else "assumed" if own.value is None else "as fitted"
        words.append(f"{of}s {source}")
    return " and ".join(words)


def promise(of: Comparison) -> str:
    """Return the ranking figure and its error, in words."""
    options = of.options
    ranked = f"Ranked by the {options.metric} latency of {options.operation} calls"
    if of.error == math.inf:
        return f"{ranked}. Its error is not known: too few such calls. So nothing is ranked."
    off = f"{percent_off(of.error)} in the half that it was not fitted to"
    return f"{ranked}, whose prediction is off by {off}: smaller differences are not ranked."


def percent_off(error: float) -> str:
    """Return an error as a share in words; it is given as a factor's logarithm."""
    return f"{math.expm1(error):.1%}"


def fit_json(fit: Fit) -> dict[str, Any]:
    """Return a fit as one object."""
    of = fit.survey
    return {
        "dataset": str(of.dataset),
        "unread": next(iter(unread.of_dataset(of.dataset)), None),
        "server_address": of.server,
        "generated": label(in_dataset(of.dataset)) or None,
        "period": of.period(),
        "calls": of.rows,
        "without_reply": of.rows - of.replied,
        "fitted_to": fit.calls,
        "held_out": [
            {"kind": row.kind, "calls": row.calls}
            | {"captured_us": row.captured, "predicted_us": row.predicted, "off": row.away}
            for row in fit.held_out.rows
        ],
        "slower_by_itself": vars(fit.drift),
        "unknowns": {name: own.to_json() for name, own in fit.unknowns.items()},
        "server": fit.server.model_dump(),
    }


def comparison_json(of: Comparison) -> dict[str, Any]:
    """Return a comparison as one object, with its fit."""
    variants = [
        dict(vars(each))
        | {"beside_now": of.verdict(each, of.now())}
        | ({"beside": of.beside[each.name]} if each.name in of.beside else {})
        for each in of.variants
    ]
    error = None if of.error == math.inf else math.expm1(of.error)
    return {
        "fit": fit_json(of.fit),
        "ranked_by": {"operation": of.options.operation, "metric": of.options.metric},
        "error": error,
        "variants": variants,
        "untold": of.not_simulated,
        "ranked_pairs": of.pairs(),
        "conclusion": conclusion(of),
    }


FILES = ("what-if.html", "what-if.json", "what-if.parquet")
"""Files of a report."""


def write(of: Comparison, out: Path) -> None:
    """Write ``what-if.html``, ``what-if.json`` and ``what-if.parquet`` into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "what-if.json", json.dumps(comparison_json(of), indent=2) + "\n")
    write_text(out / "what-if.html", html(of))
    with replaced(out / "what-if.parquet") as part:
        pq.write_table(table(of), part)


def html(of: Comparison) -> str:
    """Return a page: complete in itself, and the same for the same comparison."""
    loader = ChoiceLoader(
        [
            PackageLoader("birthmark.storage.what_if"),
            PackageLoader("birthmark.training.reports"),
        ]
    )
    return (
        pages(loader)
        .get_template("what_if.html.j2")
        .render(
            fit=fit_json(of.fit),
            verdict=verdict(of),
            conclusion=conclusion(of),
            picture=picture(of),
            tables=[
                ("What the variants give", ("variant", *VARIANT_HEADINGS), variant_rows(of), ""),
                (
                    "How well the server is predicted",
                    ("kind of call", *ERROR_HEADINGS),
                    error_rows(of.fit),
                    steadiness(of.fit),
                ),
                ("What was fitted", ("unknown", *UNKNOWN_HEADINGS), unknown_rows(of.fit), ""),
            ],
            reasons=unknown_reasons(of.fit),
            as_it_is=as_it_is(of.fit),
            changes=[(each.name, each.changes) for each in of.variants if each.changes],
        )
    )


def table(of: Comparison) -> pa.Table:
    """Return the figures of all variants (`FIGURES`)."""
    rows: list[dict[str, Any]] = [
        {"variant": each.name, "kind": kind}
        | {f"{metric}_us": value for metric, value in figures.items()}
        | {f"{metric}_sd_us": value for metric, value in each.spread[kind].items()}
        | {f"{part}_us": value for part, value in each.parts[kind].items()}
        | {"saturated_per_s": each.saturated, "hit_ratio": each.hit_ratio}
        for each in of.variants
        for kind, figures in each.figures.items()
    ]
    return pa.Table.from_pylist(rows, schema=FIGURES)


def _error_row(row: Row) -> tuple[str, ...]:
    cells = [row.kind, f"{row.calls:,}"]
    for metric in ("p50", "p95"):
        cells += [f"{row.captured[metric]:,.0f}", f"{row.predicted[metric]:,.0f}"]
        cells.append(f"{row.away[metric]:+.0%}")
    return (*cells, f"{row.away['mean']:+.0%}")


def _variant_row(of: Comparison, each: Variant) -> Sequence[str]:
    figures = each.figures[of.options.operation]
    busiest = max(each.busy, key=each.busy.__getitem__)
    now = of.now()
    beside = "" if each is now else of.verdict(each, now)
    return (
        f"{each.value:,.0f}",
        beside,
        *(f"{figures[metric]:,.0f}" for metric in ("p50", "p95", "p99")),
        f"{each.saturated:,.0f}",
        "" if each.hit_ratio is None else f"{each.hit_ratio:.1%}",
        f"{busiest} {each.busy[busiest]:.0%}",
    )


def _bounds(of: Unknown) -> str:
    """Return the bounds of an unknown, in words."""
    low, high = _number(of.low, of.unit), _number(of.high, of.unit)
    if low and high:
        return low if low == high else f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else ""


def _number(value: float | None, unit: str) -> str:
    """Return a value with its unit; empty for none."""
    if value is None or value == math.inf:
        return ""
    if unit == "yes or no":
        return "yes" if value else "no"
    if unit in ("bytes", "bytes/s"):
        return in_words(round(value)) + unit.removeprefix("bytes")
    if unit in COUNTS:
        return f"{value:,.0f}"
    number = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return number if unit == "share" else f"{number} {unit}"
