"""Is it still right? What was served, joined to what the next trace shows became of the files.

<registry>/audits/<dataset>.json       figures, breaches and drift (`Audit.to_json`)
<registry>/audits/<dataset>.parquet    the figures by hour, user and client
<registry>/audits/<dataset>.html       all of it, to look at
<registry>/bounds.json                 what the newest know of each bound (`registry.bounds`)
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

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.arrays import Floats
from birthmark.data.common.plurals import counted
from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.prediction_log import Joining, LogFiles
from birthmark.predictor import births
from birthmark.predictor.parts import DamagedModelError
from birthmark.training.audit.figures import GROUPS, SERVED, Answered, Figures, figures
from birthmark.training.audit.matching import Join, join
from birthmark.training.audit.shifts import Shift, shifts
from birthmark.training.config import Matching
from birthmark.training.learn.loss import without_loss
from birthmark.training.learn.profile import Profile
from birthmark.training.registry import abstentions, bounds
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import AUDITS
from birthmark.training.reports.verdict import Night, Verdict, named, of_nights
from birthmark.training.statistics.sequential import evidence, needed
from birthmark.training.statistics.standing import BURST, by_key, in_words, key_of, of_row, over

log = logging.getLogger(__name__)

_NOTHING_JOINED = Verdict(
    "It is not known: no answer could be joined to a file of the trace.",
    "There is nothing to compare.",
    "See that the log tells names, users and clients as the trace does, or match by less of them.",
)

LOOK_BACK = 90
"""How many audits before this one count as evidence."""


@dataclass
class Audit:
    """What an audit found on `dataset`, of `servers`, with operations from `since` to `until`.

    `joined` counts rows by version, kind, point and subject. `unknown` counts rows by version
    of models that cannot be loaded, `damaged` tells of files of the log that cannot be read, and
    `set_aside` counts rows by file that tell impossible times.
    `growth` is this night's of the bets against each bound (`statistics.sequential`), `needed` the
    evidence (log10) from which one is broken, and `broken` the keys of those that are; `breaches`
    are the reasons by key for those of `version`, the published one. `drift` is None where there is
    too little to judge, or no profile to compare with. `before` is what the audit before found.
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
    growth: dict[str, list[float]] = field(default_factory=dict)
    needed: float = 0.0
    broken: list[str] = field(default_factory=list)
    breaches: dict[str, str] = field(default_factory=dict)
    drift: list[Shift] | None = None
    before: Night | None = None

    def __repr__(self) -> str:
        rows = sum(row["joined"] for row in self.joined)
        return f"<Audit of {self.version} on {self.dataset}: {rows:,} rows joined>"

    @property
    def verdict(self) -> Verdict:
        """What all of it comes to."""
        nights = [*filter(None, [self.before]), Night.of(self.dataset, self.figures.to_pylist())]
        return of_nights(nights, self._to_do()) if nights[-1].n else _NOTHING_JOINED

    def _to_do(self) -> Iterator[str]:
        told = self._told()
        if self.breaches:
            what = named(told[key] for key in self.breaches)
            yield f"Train on newer days: there is no yes to {what} until a new model is published."
        if self.over():
            what = named(over(row for key, row in told.items() if key not in self.breaches))
            yield f"Beware of a yes to {what}: more of them were wrong than was promised."
        if self.drift:
            changes = counted(len(self.drift), "changes")
            yield f"Train on newer days: other files are created ({changes} below)."
        if told and all(row["block_seconds"] < BURST for row in told.values() if row["n"]):
            yield "Audit a whole day: this time is too short to tell whether the bounds hold."

    def bounds_in_words(self) -> str:
        """Return what is known of all bounds together."""
        return in_words(self._told().values())

    def over(self) -> list[str]:
        """Return the bounds that false positives exceed, without `breaches`, and the reasons."""
        told = self._told()
        rows = over(row for key, row in told.items() if key not in self.breaches)
        return [f"{key_of(row)}: {row['standing']}: {_reason(row, self)}" for row in rows]

    def _told(self) -> dict[str, Mapping[str, Any]]:
        return by_key(self.figures.to_pylist(), self.version)

    def to_json(self) -> dict[str, Any]:
        """Return the audit, but for its groups, as JSON objects."""
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
    """Compare what the log at `log` says was served with what `dataset` shows.

    `leave_out` leaves out lives that loss may have touched. Nothing is written: see `keep`. Raises
    OSError where there is no log, and ValueError for a dataset that shows no file.
    """
    joining = joining or Matching().joining()
    files, names, _ = without_loss(read_files(dataset), read_names(dataset), leave_out)
    if not len(files):
        raise ValueError(f"{dataset}: expected files, found none")
    since = pc.min(files["first_seen"]).as_py()
    until = pc.max(files["observed_until"]).as_py()
    # Links and renames make names, too, but nobody asks what will become of those.
    created = names.filter(pc.fill_null(pc.equal(names["how_born"], "create"), False))
    lives = {"file": births(files), "name": births(created)}
    name, version = dataset.resolve().name, registry.current()
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
    """Write an audit into the registry; predicates whose bound is broken abstain from now on."""
    from birthmark.training.audit.page import render

    # First what has an effect: an audit that is there has had it.
    if found.version is not None:
        abstentions.add(registry, found.version, found.breaches)
    groups = pa.BufferOutputStream()
    pq.write_table(found.groups, groups)
    text = json.dumps(found.to_json(), indent=1, allow_nan=False) + "\n"
    place = f"{AUDITS}/{found.dataset}"
    registry.write(f"{place}.parquet", groups.getvalue().to_pybytes())
    registry.write(f"{place}.html", render(found).encode())
    registry.write(f"{place}.json", text.encode())
    bounds.keep(registry, audits(registry))


def is_kept(registry: Registry, dataset: str) -> bool:
    """Tell whether an audit of a dataset of this name is kept."""
    return f"{dataset}.json" in registry.names(AUDITS)


def audits(registry: Registry) -> list[dict[str, Any]]:
    """Return what was kept of all audits (`Audit.to_json`), in the order of time."""
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
    """Yield the log's rows by the model that answered, those of one together."""
    tables: dict[tuple[str, str, str], list[pa.Table]] = {}
    around = timedelta(seconds=found.joining.tolerance)
    for table in log.tables(found.since - around, found.until + around):
        for whose in table.select(_WHOSE).group_by(_WHOSE).aggregate([]).to_pylist():
            same = [pc.equal(table[column], value) for column, value in whose.items()]
            own = table.filter(reduce(pc.and_, same))
            tables.setdefault((whose["model"], whose["kind"], whose["point"]), []).append(own)
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
    """Join and judge what one model answered."""
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


def _judge(registry: Registry, found: Audit, every: Sequence[Figures]) -> None:
    """Weigh the evidence against each bound, of this night and those before."""
    for each in every:
        for key, grown in each.growth.items():
            held = found.growth.get(key, [0.0] * len(grown))
            found.growth[key] = [float(one + other) for one, other in zip(held, grown, strict=True)]
    before = [each for each in audits(registry) if each["dataset"] != found.dataset]
    # Each server has its own nights, of which the level allows so many a year.
    watched = {tuple(each["servers"]) for each in before} | {tuple(found.servers)}
    before = [each for each in before if each["servers"] == found.servers]
    before = [each for each in before if each["until"] <= found.until.isoformat()][-LOOK_BACK:]
    found.needed = needed(len(found.growth) * len(watched))
    if before:
        found.before = Night.of(before[-1]["dataset"], before[-1]["figures"])
    weights = {key: evidence(_nights(before, found, key)) for key in found.growth}
    found.broken = sorted(key for key, weight in weights.items() if weight >= found.needed)
    rows = [row for each in every for row in each.served]
    for row in rows:
        if row["bound"] is not None:
            _weigh(row, weights, found)
    found.figures = pa.Table.from_pylist(rows, schema=SERVED)
    groups = [row for each in every for row in each.groups]
    found.groups = pa.Table.from_pylist(groups, schema=GROUPS)


def _weigh(row: dict[str, Any], weights: Mapping[str, float], found: Audit) -> None:
    """Say of one row what is known of its bound, and of the published version if it is broken."""
    key = key_of(row)
    row |= {"evidence": weights[key], "broken": key in found.broken}
    row["standing"] = of_row(row)
    over = row["n"] > 0 and row["false_positives"] > row["bound"]
    if row["broken"] and over and row["version"] == found.version:
        found.breaches[key] = _reason(row, found)


def _nights(before: Iterable[Mapping[str, Any]], found: Audit, key: str) -> list[Floats]:
    """Return the growth of bets against a bound, since it was last called broken."""
    nights: list[Floats] = []
    for each in before:
        if key in each["broken"]:
            nights = []
        elif key in each["growth"]:
            nights.append(np.array(each["growth"][key]))
    return [*nights, np.array(found.growth[key])]


def _reason(row: Mapping[str, Any], found: Audit) -> str:
    return (
        f"{row['false_positives']:.2f}% false positives on {found.dataset}"
        f" ({row['n_false_positive']:,} of {row['n']:,}), promised at most {row['bound']:g}%"
    )
