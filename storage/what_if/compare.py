"""Variants of a fitted server against the current server, ranked where the error allows it.

The prediction has an error in the half of the capture that the server was not fitted to. Variants
that differ by less, or by no more than chance, are not ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

import numpy as np

from birthmark.data.common.sizes import in_words
from birthmark.layout_hint.disks import read_drive
from birthmark.layout_hint.replay.conditions import ORACLE
from birthmark.storage.what_if.calls import read
from birthmark.storage.what_if.fit import Fit
from birthmark.storage.what_if.held_out import METRICS
from birthmark.storage.what_if.layouts import layouts
from birthmark.storage.what_if.settings import WhatIfOptions
from birthmark.storage.what_if.simulate import Run, run
from birthmark.storage.what_if.variants import NOW, SSD, Change, refuse

COUNTS = {"threads", "processors"}
"""Unknowns that are counts; often only their bounds are known."""

SIZES = {"memory", "link", "read_ahead_most", "write_buffer", "stripe", "region"}
SIZES |= {"disk_read_rate", "disk_write_rate"}
"""Settings in bytes."""

QUICK = 2000.0
"""A faster write, in μs, does not come from an arm: half a turn alone takes longer."""

Verdict = Literal["faster", "slower", "cannot be told"]


@dataclass(frozen=True)
class Variant:
    """The results of a variant.

    Attributes:
        name: its name.
        changes: its settings, in words.
        figures: mean over the seeds in μs, by kind of call and figure (`METRICS`).
        spread: standard deviation over the seeds, likewise.
        values: the ranking figure of the ranking calls: one for each seed.
        parts: parts of the mean in μs, by kind of call.
        busy: utilization of its parts.
        hit_ratio: the share of read blocks that were in memory; None: no block was read.
        saturated: calls a second with the requested number outstanding.
        notes: its assumptions.
        may_be_now: whether the server may have these settings already, according to the fit.
    """

    name: str
    changes: str
    figures: Mapping[str, Mapping[str, float]]
    spread: Mapping[str, Mapping[str, float]]
    values: Sequence[float]
    parts: Mapping[str, Mapping[str, float]]
    busy: Mapping[str, float]
    hit_ratio: float | None
    saturated: float
    notes: Sequence[str]
    may_be_now: bool = False

    @property
    def value(self) -> float:
        """Return the ranking figure."""
        return float(np.mean(self.values))


@dataclass(frozen=True)
class Comparison:
    """Variants, best first, and which differences are significant.

    Attributes:
        fit: the server.
        options: the options of the comparison.
        variants: by the ranking figure.
        error: this figure's error in the held-out half, as a factor's logarithm.
        beside: for variants with hints, the same variant without.
        not_simulated: variants that were not simulated, and why.
    """

    fit: Fit
    options: WhatIfOptions
    variants: Sequence[Variant]
    error: float
    beside: Mapping[str, str] = field(default_factory=dict)
    not_simulated: Mapping[str, str] = field(default_factory=dict)

    def before(self, one: Variant) -> Variant:
        """Return the baseline of a variant: the server, or the same without hints."""
        name = self.beside.get(one.name, NOW)
        return next(each for each in self.variants if each.name == name)

    def now(self) -> Variant:
        """Return the current server."""
        return next(each for each in self.variants if each.name == NOW)

    def verdict(self, one: Variant, other: Variant) -> Verdict:
        """Return whether one is faster than another, if the error allows a verdict."""
        if any(each.may_be_now for each in (one, other)) and NOW in (one.name, other.name):
            return "cannot be told"
        ratios = np.log(np.maximum(one.values, 1e-3)) - np.log(np.maximum(other.values, 1e-3))
        chance = 2 * float(np.std(ratios, ddof=1)) if len(ratios) > 1 else 0.0
        away = float(np.mean(ratios))
        if not abs(away) > max(self.error, chance):
            return "cannot be told"
        return "faster" if away < 0 else "slower"

    def pairs(self) -> list[tuple[str, str]]:
        """Return the pairs with a significant difference, the faster first."""
        return [
            (one.name, other.name)
            for one, other in combinations(self.variants, 2)
            if self.verdict(one, other) == "faster"
        ]


def compare(
    fit: Fit, variants: Mapping[str, Change], options: WhatIfOptions, model: str | None = None
) -> Comparison:
    """Let variants of a fitted server serve its dataset; measure the second half.

    Variants with hints get them from a ``model``: a compiled image or a registry.

    Raises:
        OSError: the model cannot be read.
        ValueError: there are no variants, one has the server's name, there are no calls to rank by,
            or a variant needs a model or files that are missing.
    """
    if not variants:
        raise ValueError("expected a variant: a table [variants.NAME] in the file, or --try")
    refuse(fit.server, variants, model)
    kinds = [row.kind for row in fit.held_out.rows]
    if options.operation not in kinds:
        there = ", ".join(kinds)
        raise ValueError(f"operation: expected one of {there}; found {options.operation!r}")
    of = layouts(fit.server, variants)
    servers = {NOW: fit.server} | {name: own.of(fit.server) for name, own in of.changes.items()}
    births = of.births(fit.survey, servers, model)
    seeds = range(1, options.seeds + 1)
    runs = [
        Run(server, seed=seed, start=fit.survey.half)
        for server in servers.values()
        for seed in seeds
    ]
    full: list[Run] = [
        Run(server, 1, {"outstanding": options.outstanding}) for server in servers.values()
    ]
    outcomes = run([*runs, *full], read(fit.survey, births))
    found = []
    for place, name in enumerate(servers):
        own = outcomes[place * options.seeds : (place + 1) * options.seeds]
        change = of.changes.get(name)
        rate = outcomes[len(runs) + place]["rate"]
        found.append(_variant(name, change, own, rate, options, fit))
    ordered = sorted(found, key=lambda each: (each.value, each.name != NOW))
    error = fit.held_out.error(options.operation, options.metric)
    return Comparison(fit, options, ordered, error, of.beside, of.not_simulated)


def _variant(
    name: str,
    change: Change | None,
    outcomes: Sequence[Mapping[str, Any]],
    saturated: float,
    options: WhatIfOptions,
    fit: Fit,
) -> Variant:
    kinds = [outcome["kinds"] for outcome in outcomes]
    simulated = {
        kind: {
            metric: [own[kind]["simulated"][metric] for own in kinds if kind in own]
            for metric in METRICS
        }
        for kind in kinds[0]
    }
    hits = [outcome["hit_ratio"] for outcome in outcomes if outcome["hit_ratio"] is not None]
    hit_ratio = float(np.mean(hits)) if hits else None
    settings = {} if change is None else change.model_dump(exclude_unset=True)
    return Variant(
        name=name,
        changes=", ".join(f"{key} = {_in_words(key, value)}" for key, value in settings.items()),
        figures=_each(simulated, np.mean),
        spread=_each(simulated, np.std),
        values=simulated[options.operation][options.metric],
        parts={kind: _mean([own[kind]["parts"] for own in kinds]) for kind in kinds[0]},
        busy=_mean([outcome["busy"] for outcome in outcomes]),
        hit_ratio=hit_ratio,
        saturated=saturated,
        notes=_notes(change, fit, hit_ratio),
        may_be_now=bool(settings)
        and all(_possibly(name, own, fit) for name, own in settings.items()),
    )


def _in_words(name: str, value: Any) -> str:
    """Return a setting's value in users' notation."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return in_words(value) if name in SIZES and value else str(value)


def _possibly(name: str, value: Any, fit: Fit) -> bool:
    """Return whether the server may have this count already: the fit has only bounds."""
    own = fit.unknowns.get(name)
    if own is None or name not in COUNTS or own.low is None or own.high is None:
        return False
    return bool(own.low <= value <= own.high)


def _each(figures: Mapping[str, Mapping[str, list[float]]], of: Any) -> dict[str, dict[str, float]]:
    return {
        kind: {metric: float(of(values)) for metric, values in own.items()}
        for kind, own in figures.items()
    }


def _mean(shares: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([own[name] for own in shares])) for name in shares[0]}


def _notes(change: Change | None, fit: Fit, hit_ratio: float | None) -> list[str]:
    """Return the assumptions where the capture has no evidence."""
    if change is None:
        return []
    settings = change.settings()
    notes = []
    for name in COUNTS & set(settings):
        own = fit.unknowns.get(name)
        if own is not None and own.high is not None and own.low != own.high:
            notes.append(f"the server may have {own.high:.0f} {name} already: see the fit")
    memory, reads = fit.unknowns.get("memory in use"), fit.unknowns.get("disk read")
    if "memory" in settings and memory is not None and memory.value is None:
        notes.append("the capture does not show how much memory is in use: nothing missed it")
    missed = hit_ratio is not None and hit_ratio < 1 and not {"disk_read", "drive"} & set(settings)
    if missed and reads is not None and reads.value is None:
        micros = fit.server.disk_read.median()
        notes.append(f"the capture does not show a disk's read time: {micros:g} μs assumed")
    if change.drive is not None:
        assumed = read_drive(change.drive).assumed
        notes.append(f"files lie on it as on FFS{f'; assumed of it: {assumed}' if assumed else ''}")
    if change.hint() == ORACLE:
        notes.append(
            "an oracle, unlike a model, knows which files will be written most for their size"
        )
    if change.ssd and any(settings[name] == SSD[name] for name in ("disk_read", "disk_write")):
        notes.append("an SSD's times are assumed, not measured")
        own = fit.unknowns.get("disk write")
        if own is not None and own.value is not None and own.value < QUICK:
            notes.append(f"its disks take {own.value:,.0f} μs for a write now: they have no arm")
    return notes


def why(variant: Variant, now: Variant, kind: str) -> str:
    """Return the part of the mean latency that changes most, in words; empty if none does."""
    own, before = variant.parts.get(kind, {}), now.parts.get(kind, {})
    changes = {name: own[name] - before.get(name, 0) for name in own}
    if not changes:
        return ""
    name = max(changes, key=lambda part: abs(changes[part]))
    if abs(changes[name]) < 0.01 * sum(before.values()):
        return "nothing changes by more than 1 %"
    word = "less" if changes[name] < 0 else "more"
    return f"{abs(changes[name]):,.0f} μs {word} {PARTS[name]}"


PARTS = {
    "thread": "waiting for a thread",
    "connection": "waiting for earlier calls on the connection",
    "lock": "waiting for a file's lock",
    "processor_queue": "waiting for a processor",
    "processor": "on the processor",
    "disk_queue": "waiting for a disk",
    "seek": "seeking",
    "rotation": "of rotation",
    "transfer": "of reading and writing on disks",
    "write_buffer": "waiting for room in the write buffer",
    "network": "on the network",
}
"""Parts of a call's time, in words."""
