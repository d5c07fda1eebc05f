"""Audits of served predictions, joined to the outcomes in the next trace.

<registry>/audits/<dataset>.json       figures, breaches and drift (`Audit.to_json`)
<registry>/audits/<dataset>.parquet    the figures by hour, user and client
<registry>/audits/<dataset>.html       the page
<registry>/thresholds.json             when a yes may be said (`training.control.audited`)
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.plurals import counted
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.prediction_log import Joining, LogFiles
from birthmark.predictor import births
from birthmark.predictor.control import Ledger
from birthmark.predictor.parts import DamagedModelError
from birthmark.predictor.trained import read_description
from birthmark.training.audit.figures import GROUPS, SERVED, Answered, Figures, figures
from birthmark.training.audit.matching import Join, join
from birthmark.training.audit.shifts import Shift, shifts
from birthmark.training.config import Matching
from birthmark.training.control.audited import ledgers, moved
from birthmark.training.learn.loss import without_loss
from birthmark.training.learn.profile import Profile
from birthmark.training.registry import thresholds
from birthmark.training.registry.manifests import base_version
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS
from birthmark.training.reports.verdict import Night, Verdict, named, of_nights
from birthmark.training.statistics.standing import (
    Standing,
    by_key,
    key_of,
    over,
    standing,
    summary,
)

log = logging.getLogger(__name__)

_NOTHING_JOINED = Verdict(
    "Unknown: no answer could be joined to a file of the trace.",
    "There is nothing to compare with.",
    "Check that the log's names, users and clients agree with the trace's, or match by fewer.",
)


@dataclass
class Audit:
    """An audit of `dataset`, of `servers`, with operations from `since` to `until`.

    `joined` counts rows by version, kind, point and subject. `unknown` counts rows by version of
    models that cannot be loaded, `damaged` has unreadable files of the log, and `set_aside` counts
    rows with impossible times by file. `breaches` has the predicates of `version`, the published
    one, that abstain from now on, with the reasons. `drift` is None if there is too little data, or
    no profile. `before` is the previous audit.
    """

    dataset: str
    since: datetime
    until: datetime
    servers: list[str]
    version: str | None
    joining: Joining
    figures: pa.Table
    groups: pa.Table
    joined: list[dict[str, Any]] = field(default_factory=list)
    unknown: dict[str, int] = field(default_factory=dict)
    damaged: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, int] = field(default_factory=dict)
    breaches: dict[str, str] = field(default_factory=dict)
    drift: list[Shift] | None = None
    before: Night | None = None

    def __repr__(self) -> str:
        rows = sum(row["joined"] for row in self.joined)
        return f"<Audit of {self.version} on {self.dataset}: {rows:,} rows joined>"

    @property
    def verdict(self) -> Verdict:
        """The verdict of the audit."""
        nights = [*filter(None, [self.before]), Night.of(self.dataset, self.figures.to_pylist())]
        return of_nights(nights, self._to_do()) if nights[-1].n else _NOTHING_JOINED

    def _to_do(self) -> Iterator[str]:
        rows_by_key = self._rows_by_key()
        if self.breaches:
            what = named(rows_by_key[key] for key in self.breaches)
            yield f"Train on newer days: {what}: no yes until outcomes allow it."
        if self.over():
            what = named(over(row for key, row in rows_by_key.items() if key not in self.breaches))
            yield f"Beware of a yes to {what}: more were wrong than the bound allows."
        if self.drift:
            changes = counted(len(self.drift), "changes")
            yield f"Train on newer days: the created files changed ({changes} below)."

    def bounds_in_words(self) -> str:
        """Return the standing of all bounds in words."""
        rows = self._rows_by_key().values()
        return summary(Standing(row["standing"]) for row in rows)

    def over(self) -> list[str]:
        """Return the exceeded bounds that are not among `breaches`, with reasons."""
        rows_by_key = self._rows_by_key()
        rows = over(row for key, row in rows_by_key.items() if key not in self.breaches)
        return [f"{key_of(row)}: {row['standing']}: {self._reason(row)}" for row in rows]

    def _reason(self, row: Mapping[str, Any]) -> str:
        wrong, where = row["n_false_positive"], f"on {self.dataset}"
        return _reason(wrong, row["n"], row["bound"], where)

    def _rows_by_key(self) -> dict[str, Mapping[str, Any]]:
        return by_key(self.figures.to_pylist(), self.version)

    def to_json(self) -> dict[str, Any]:
        """Return the audit as JSON objects, without its groups."""
        own = {name: value for name, value in vars(self).items() if name != "groups"}
        return own | {
            "since": self.since.isoformat(),
            "until": self.until.isoformat(),
            "joining": asdict(self.joining) | {"matched": list(self.joining.matched)},
            "figures": self.figures.to_pylist(),
            "drift": None if self.drift is None else [each.to_json() for each in self.drift],
            "before": self.before and asdict(self.before),
        }


def audit(
    registry: Registry,
    dataset: Path,
    log: Path,
    joining: Joining | None = None,
    leave_out: bool = False,
) -> Audit:
    """Compare the predictions in `log` with the outcomes in `dataset`.

    `leave_out` leaves out lives that loss may have affected. Nothing is written: see `keep`. Raises
    OSError without a log, and ValueError for a dataset without files.
    """
    joining = joining or Matching().joining()
    files, names, _ = without_loss(read_files(dataset), read_names(dataset), leave_out)
    if not len(files):
        raise ValueError(f"{dataset}: expected a files table with rows, found none")
    since = pc.min(files["first_seen"]).as_py()
    until = pc.max(files["observed_until"]).as_py()
    # Links and renames make names, too, but are not predicted.
    created = names.filter(pc.fill_null(pc.equal(names["how_born"], "create"), False))
    lives = {"file": births(files), "name": births(created)}
    name, version = dataset.resolve().name, registry.base()
    servers = sorted(pc.unique(files["server"].cast(pa.utf8())).to_pylist())
    nothing = SERVED.empty_table(), GROUPS.empty_table()
    found = Audit(name, since, until, servers, version, joining, *nothing)
    logged = LogFiles(log)
    every = [_one(found, *group, lives) for group in _groups(registry, logged, found)]
    found.damaged, found.set_aside = logged.damaged, logged.set_aside
    _judge(registry, found, every)
    if version is not None:
        inputs = registry.manifest(version).get("inputs")
        found.drift = shifts(Profile.from_json(inputs), lives["file"]) if inputs else None
    return found


def keep(registry: Registry, found: Audit) -> None:
    """Write an audit into the registry, and first when a yes may be said: its effect."""
    from birthmark.training.audit.page import render

    if found.version is not None:
        _move(registry, found, found.version)
    groups = pa.BufferOutputStream()
    pq.write_table(found.groups, groups)
    text = json.dumps(found.to_json(), indent=1, allow_nan=False) + "\n"
    place = f"{AUDITS}/{found.dataset}"
    registry.write(f"{place}.parquet", groups.getvalue().to_pybytes())
    registry.write(f"{place}.html", render(found).encode())
    registry.write(f"{place}.json", text.encode())


def _move(registry: Registry, found: Audit, version: str) -> None:
    """Write the thresholds of the published version by this audit and all others."""
    kind = registry.manifest(version)["serve"]
    bound = read_description(registry.directory(version))["parameters"]["bound"]
    rows = [*_rows(_others(registry, found)), *found.figures.to_pylist()]
    clock = round(found.until.timestamp() * 1e6)
    thresholds.write_registry(registry, moved(rows, version, kind, bound, clock))


def is_stored(registry: Registry, dataset: str) -> bool:
    """Return whether an audit of a dataset of this name is stored."""
    return f"{dataset}.json" in registry.names(AUDITS)


def audits(registry: Registry) -> list[dict[str, Any]]:
    """Return all stored audits (`Audit.to_json`), in the order of time."""
    found = []
    for name in registry.names(AUDITS):
        if name.endswith(".json"):
            try:
                found.append(json.loads(registry.read(f"{AUDITS}/{name}") or b""))
            except ValueError as error:
                place = f"{registry.place}/{AUDITS}/{name}"
                log.warning("%s: does not count: expected an audit in JSON: %s", place, error)
    return sorted(found, key=lambda each: (each["until"], each["dataset"]))


_WHOSE = ["model", "kind", "point"]


def _groups(registry: Registry, log: LogFiles, found: Audit) -> Iterator[tuple[Answered, pa.Table]]:
    """Yield the log's rows of each model that answered; refreshes count as their base version."""
    tables: dict[tuple[str, str, str], list[pa.Table]] = {}
    around = timedelta(seconds=found.joining.tolerance)
    for table in log.tables(found.since - around, found.until + around):
        for whose in table.select(_WHOSE).group_by(_WHOSE).aggregate([]).to_pylist():
            same = [pc.equal(table[column], value) for column, value in whose.items()]
            own = table.filter(reduce(pc.and_, same))
            model = base_version(whose["model"]), whose["kind"], whose["point"]
            tables.setdefault(model, []).append(own)
    unknown: Counter[str] = Counter()
    for (version, kind, point), parts in sorted(tables.items()):
        rows = pa.concat_tables(parts, promote_options="default").combine_chunks()
        try:
            yield Answered(version, kind, point, load(registry, version).model), rows
        except (DamagedModelError, RegistryError, OSError):
            unknown[version] += len(rows)
    found.unknown = dict(unknown)


def _one(
    found: Audit, answered: Answered, rows: pa.Table, lives: Mapping[str, pa.Table]
) -> Figures:
    """Join the answers of one model, and compute their figures."""
    joins: dict[str, Join] = {}
    for subject, own in lives.items():
        joins[subject] = join(rows, own, found.joining)
        found.joined.append(
            {
                "version": answered.version,
                "model": answered.kind,
                "point": answered.point,
                "subject": subject,
                "asked": joins[subject].asked,
                "joined": len(joins[subject].rows),
                "ambiguous": joins[subject].ambiguous,
                "unmatched": joins[subject].unmatched,
            }
        )
    return figures(answered, rows, lives, joins)


def _others(registry: Registry, found: Audit) -> list[dict[str, Any]]:
    """Return the stored audits but for an earlier one of this dataset."""
    return [each for each in audits(registry) if each["dataset"] != found.dataset]


def _rows(stored: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    return (row for each in stored for row in each["figures"])


def _judge(registry: Registry, found: Audit, every: Sequence[Figures]) -> None:
    """Set the standing of each bound by the outcomes of this audit and those before it."""
    until = found.until.isoformat()
    before = [each for each in _others(registry, found) if each["until"] <= until]
    same = [each for each in before if each["servers"] == found.servers]
    if same:
        found.before = Night.of(same[-1]["dataset"], same[-1]["figures"])
    rows = [row for each in every for row in each.served]
    for version, kind in {(row["version"], row["model"]) for row in rows}:
        counted = ledgers([*_rows(before), *rows], version, kind)
        for row in rows:
            if (row["version"], row["model"]) == (version, kind) and row["bound"] is not None:
                _weigh(row, counted[key_of(row)], found)
    found.figures = pa.Table.from_pylist(rows, schema=SERVED)
    groups = [row for each in every for row in each.groups]
    found.groups = pa.Table.from_pylist(groups, schema=GROUPS)


def _weigh(row: dict[str, Any], ledger: Ledger, found: Audit) -> None:
    """Set the standing of a row's bound, and the breach if it is the published version's."""
    row["standing"] = standing(ledger)
    if row["version"] == found.version and ledger.credit() <= 0:
        wrong, every = ledger.false_positives, ledger.outcomes
        found.breaches[key_of(row)] = _reason(wrong, every, row["bound"], "since publication")


def _reason(wrong: float, every: float, bound: float, where: str) -> str:
    share, counts = 100 * wrong / every, f"{wrong:,.0f} of {every:,.0f}"
    return f"{share:.2f}% false positives {where} ({counts}), bound {bound:g}%"
