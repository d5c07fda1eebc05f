"""Retention: removal of old datasets, followed hours and versions after a night, if configured.

These stay however old they are: the training data of the published, the pinned and the previous
version, and the version that the published card compares with. So do the datasets of the newest
`keep_days`, which cover the training window, those made in this night, and the last followed one,
which marks the beginning of the next.

Removal begins with a rename, so that it is atomic; the next run removes leftovers of a killed one.
The ledger keeps the traces and hours of removed datasets, so that they are not ingested again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from birthmark.data.common import durable
from birthmark.data.datasets import ingests
from birthmark.data.follow.combine import finished
from birthmark.training.config import Config
from birthmark.training.nightly.followed import UNTIL, entries_of
from birthmark.training.nightly.intake import INTAKE, Dataset, in_micros, known, remember
from birthmark.training.registry.versions import Registry, RegistryError

_GONE = ".gone"


@dataclass(frozen=True)
class Removable:
    """Removable paths of `datasets` and followed `hours`, and names of `versions`."""

    datasets: list[Path] = field(default_factory=list)
    hours: list[Path] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


def removable(
    config: Config, registry: Registry, held: Sequence[Dataset], made: Iterable[str] = ()
) -> Removable:
    """Return everything older than the configured retention.

    `held` are the valid datasets ordered by their ends; the end of the last counts as the present.
    Datasets with a name in `made` stay.
    """
    days, versions = config.datasets.keep_days, config.registry.keep_versions
    going = [] if versions is None else registry.prune(versions, dry_run=True)
    if days is None or not held:
        return Removable(versions=going)
    before = held[-1].until - timedelta(days=days)
    staying = {*made, *_rested_on(registry), *_last_followed(config.datasets.directory)}
    old = [each.path for each in held if each.until < before and each.path.name not in staying]
    return Removable(old, list(_hours(config, before)), going)


def remove(config: Config, registry: Registry, going: Removable) -> None:
    """Remove for good. Call only while holding the lock of the nightly run."""
    directory, follow = config.datasets.directory, config.follow
    places = [directory, *([follow.datasets] if follow else [])]
    for left in (path for place in places for path in place.glob(f".*{_GONE}")):
        durable.remove(left)
    remember(directory)
    for path in (*going.datasets, *going.hours):
        gone = path.with_name(f".{path.name}{_GONE}")
        durable.rename(path, gone)
        durable.remove(gone)
    if config.registry.keep_versions is not None and going.versions:
        registry.prune(config.registry.keep_versions)


def _rested_on(registry: Registry) -> Iterator[str]:
    """Yield the training data of the versions that serve, or may serve again."""
    for version in {registry.base(), registry.pinned(), registry.previous()} - {None}:
        try:
            yield from registry.manifest(str(version))["trained_on"]["datasets"]
        except (RegistryError, KeyError):  # the training data of a damaged version is unknown
            continue


def _last_followed(directory: Path) -> Iterator[str]:
    """Yield the newest dataset of followed hours, if there is one."""
    intakes = {path: json.loads(path.read_bytes()) for path in directory.glob(f"[!.]*/{INTAKE}")}
    untils = {path: own[UNTIL] for path, own in intakes.items() if own.get(UNTIL) is not None}
    if untils:
        yield max(untils, key=lambda path: untils[path]).parent.name


def _hours(config: Config, before: datetime) -> Iterator[Path]:
    """Yield the ingested hours that ended before that time, but never the last."""
    if config.follow is None or not config.follow.datasets.is_dir():
        return
    ingested = set(known(config.datasets.directory))
    for hour in finished(config.follow.datasets)[0][:-1]:
        periods = [record["period"] for record in ingests.records(hour).values()]
        ended = max((period[1] for period in periods if period), default=0)
        if ended < in_micros(before) and ingested.issuperset(entries_of(hour)):
            yield hour
