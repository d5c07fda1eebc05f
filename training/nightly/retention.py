"""What is removed after a night: old datasets, followed hours and versions, where a site wants it.

What the published model rests on stays, however old it is: the datasets that it learned from, and
the version that its card compares it with; of the pinned one, and of that which a rollback goes
back to, the datasets likewise. So do the datasets of the newest `keep_days`, which are no fewer
than those of the window, those that the night itself made, and the last of the followed ones, by
which the next knows which lives are its own.

Something is renamed before it is removed, so that it is there whole or not at all; what a run that
was killed left of it, the next removes. Traces and hours of which a dataset is gone are in the
ledger, and are not taken in again.
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
    """What may go: paths of `datasets` and of followed `hours`, names of `versions`."""

    datasets: list[Path] = field(default_factory=list)
    hours: list[Path] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)


def removable(
    config: Config, registry: Registry, held: Sequence[Dataset], made: Iterable[str] = ()
) -> Removable:
    """Return what is older than the configuration keeps.

    `held` are the datasets that are believed, in the order of their ends: the last says how late it
    is, whatever the clock. Those that are called as in `made` stay.
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
    """Remove it for good; only who holds the lock of the nightly run may."""
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
    """Yield the datasets that the versions learned from which answer, or may again."""
    for version in {registry.current(), registry.pinned(), registry.previous()} - {None}:
        try:
            yield from registry.manifest(str(version))["trained_on"]["datasets"]
        except (RegistryError, KeyError):  # a damaged one rests on nothing that is known
            continue


def _last_followed(directory: Path) -> Iterator[str]:
    """Yield the dataset of the followed hours that came last, if there is one."""
    told = {path: json.loads(path.read_bytes()) for path in directory.glob(f"[!.]*/{INTAKE}")}
    untils = {path: own[UNTIL] for path, own in told.items() if own.get(UNTIL) is not None}
    if untils:
        yield max(untils, key=lambda path: untils[path]).parent.name


def _hours(config: Config, before: datetime) -> Iterator[Path]:
    """Yield the followed hours that were taken in and ended before that, but never the last."""
    if config.follow is None or not config.follow.datasets.is_dir():
        return
    taken = set(known(config.datasets.directory))
    for hour in finished(config.follow.datasets)[0][:-1]:
        periods = [told["period"] for told in ingests.records(hour).values()]
        ended = max((period[1] for period in periods if period), default=0)
        if ended < in_micros(before) and taken.issuperset(entries_of(hour)):
            yield hour
