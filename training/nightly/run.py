"""The nightly run: take in new traces, audit and test the published model, train its successor.

Each step leaves its result whole or not at all, and is skipped where its result is there; so a
run may be killed and started again at any time, and a second run in a row does nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from joblib import delayed

from birthmark.data.common import durable
from birthmark.data.common.plurals import counted
from birthmark.predictor.parts import OlderModelError
from birthmark.predictor.trained import read_description
from birthmark.training.audit.run import audit, is_kept, keep
from birthmark.training.config import Config
from birthmark.training.engine import current, opened
from birthmark.training.learn.train import read_lives
from birthmark.training.nightly.candidate import succeed
from birthmark.training.nightly.compare import Decision
from birthmark.training.nightly.followed import take_in_hours
from birthmark.training.nightly.horizon import Horizon, horizon, learned_until
from birthmark.training.nightly.intake import (
    Dataset,
    check,
    datasets,
    new_traces,
    operations,
    set_aside,
    settle,
    take_in,
    unreadable,
    waiting,
    warnings,
)
from birthmark.training.nightly.retention import removable, remove
from birthmark.training.nightly.state import Keeper, kept
from birthmark.training.nightly.trace_files import unmatched, unreachable
from birthmark.training.registry.stored import Stored, load
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.evaluation_run import EvaluationRun
from birthmark.training.reports.labels import REPORT

EVALUATION = "evaluation.json"

Say = Callable[[str], None]


@dataclass
class Night:
    """What one nightly run did, and the version that is current after it.

    `traces` is the number taken in as `datasets`; `waiting` are the paths of those that may still
    be growing, and `refused` maps the paths of those that cannot be taken in, and of directories
    that cannot be looked into, to the reasons. `warnings` tell what may be meant, or be a mistake:
    patterns that match no file, traces that hold no NFS. `audited` are the datasets with which what
    was served was compared, and `breaches` the reasons by predicate for which it abstains from now
    on; `tested` are the datasets that the published model was tested on; `pinned` is the version
    because of which nothing was published. `set_aside` counts records of the traces taken in by the
    reasons why they were; `left_out` and `gap` are those of `training.nightly.horizon.Horizon`.
    `removed` are the datasets, and `pruned` the versions, that retention removed.
    """

    traces: int = 0
    waiting: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    datasets: list[str] = field(default_factory=list)
    set_aside: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    gap: str | None = None
    audited: list[str] = field(default_factory=list)
    breaches: dict[str, str] = field(default_factory=dict)
    tested: list[str] = field(default_factory=list)
    trained_on: list[str] = field(default_factory=list)
    version: str | None = None
    decision: Decision | None = None
    pinned: str | None = None
    removed: list[str] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)
    current: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON objects."""
        decision = self.decision and self.decision.to_json()
        return {**vars(self), "decision": decision}


def nightly(config: Config, say: Say = lambda text: None, now: datetime | None = None) -> Night:
    """Do what there is to do, telling each step to `say`; return what was done.

    `now` is what the clock shows, None: that of this host. Raises `durable.LockedError` where
    another run is at work on the same datasets.
    """
    directory = config.datasets.directory
    durable.private(directory)
    with durable.locked(directory / ".lock", wait=False):
        night, registry = Night(), Registry(config.registry.directory)
        with kept(registry, directory) as state:
            with opened(config.engine, directory):
                _work(config, registry, night, say, now or datetime.now(UTC))
            night.current = registry.current()
            _conclude(state, night, directory)
            if state.trouble is not None:
                night.warnings.append(f"what came of this night could not be kept: {state.trouble}")
        return night


def _work(config: Config, registry: Registry, night: Night, say: Say, now: datetime) -> None:
    """Do each step of a night."""
    directory = config.datasets.directory
    _take_in(config, night, say)
    _take_in_hours(config, night, say)
    # What was learned of a damaged version, an audit for one, would stay.
    if (published := registry.current()) is not None:
        registry.verify(published)
    held = datasets(directory)
    _audit(config, registry, held, night, say)
    found = _look(config, held, night, say, now)
    if found is not None:
        _test(config, registry, found.datasets, night, say)
        _show(registry, found.datasets)
        _train(config, registry, found, night, say)
    _retain(config, registry, found.datasets if found else [], night, say)


def _retain(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, say: Say
) -> None:
    """Remove what is older than the configuration keeps."""
    going = removable(config, registry, held, night.datasets)
    night.removed = [path.name for path in (*going.datasets, *going.hours)]
    night.pruned = going.versions
    if night.removed or night.pruned:
        many = counted(len(night.removed), "datasets"), counted(len(night.pruned), "versions")
        say(f"removing {many[0]} and {many[1]}")
    remove(config, registry, going)


def _conclude(state: Keeper, night: Night, directory: Path) -> None:
    """Keep what the night did."""
    did = {
        "traces": night.traces,
        "operations": sum(operations(directory / name) for name in night.datasets),
        "waiting": len(night.waiting),
        "refused": len(night.refused),
        "set_aside": sum(night.set_aside.values()),
        "left_out": len(night.left_out),
        "datasets": len(night.datasets),
        "versions": int(night.version is not None),
        "removed": len(night.removed),
        "pruned": len(night.pruned),
    }
    reason = night.decision.reason if night.decision else None
    state.tell(did, reason, night.datasets, night.version)
    state.end("refused" if night.refused else "done")


def _take_in(config: Config, night: Night, say: Say) -> None:
    directory = config.datasets.directory
    sources = config.traces, directory, config.servers
    found = new_traces(*sources)
    night.waiting = waiting(*sources)
    settle(directory, found)
    night.refused, night.warnings = unreachable(config.globs), unmatched(config.globs)
    if not found:
        return
    say(f"taking in {sum(map(len, found.values()))} traces")
    # One file that is no trace must not keep the others waiting, night after night.
    night.refused |= unreadable(found, directory)
    for server, entries in found.items():
        found[server] = [entry for entry in entries if entry.path not in night.refused]
    night.traces = sum(map(len, found.values()))
    if night.traces:
        made = take_in(found, directory)
        night.datasets = [path.name for path in made]
        night.warnings += [line for path in made for line in warnings(path)]
        night.set_aside = dict(sum((Counter(set_aside(path)) for path in made), Counter[str]()))


def _take_in_hours(config: Config, night: Night, say: Say) -> None:
    """Take in what a follower has finished since the last time."""
    if config.follow is None or not config.follow.datasets.is_dir():
        return
    made = take_in_hours(config.follow.datasets, config.datasets.directory)
    if made is not None:
        say(f"took in {made.name}, which was followed")
        night.datasets.append(made.name)
        night.warnings += warnings(made)
        aside = Counter(night.set_aside) + Counter(set_aside(made))
        night.set_aside = dict(aside)


def _look(
    config: Config, held: Sequence[Dataset], night: Night, say: Say, now: datetime
) -> Horizon | None:
    """Find up to when to learn; tell which datasets do not bear it out."""
    settings = config.training
    found = horizon(held, settings.window_days, settings.least_births, now)
    if found is not None:
        night.left_out = found.left_out
        for name, why in found.left_out.items():
            say(f"leaving out {name}: {why}")
    return found


def _audit(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, say: Say
) -> None:
    """Compare what was served with each dataset with which it was not; where there is a log."""
    settings = config.audit
    if settings is None or registry.current() is None or not settings.log.is_dir():
        return
    for dataset in held:
        if is_kept(registry, dataset.path.name):
            continue
        say(f"auditing {dataset.path.name}")
        check(dataset.path)
        without_loss = config.training.without_loss
        found = audit(registry, dataset.path, settings.log, settings.joining(), without_loss)
        keep(registry, found)
        night.audited.append(dataset.path.name)
        night.breaches |= found.breaches


def _test(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, say: Say
) -> None:
    """Test the published model on every later dataset that has not been tested on."""
    champion = _champion(registry)
    if champion is None:
        return
    trained = champion.manifest["trained_on"]
    until = learned_until(champion.manifest, datetime.now(UTC))
    unseen = [each for each in held if each.path.name not in trained["datasets"]]
    later = [each for each in unseen if until is None or each.until > until]
    untested = [d.path for d in later if not (d.path / EVALUATION).exists()]
    if untested:
        say(f"testing {champion.version} on {counted(len(untested), 'datasets')}")
        test = delayed(_put_to_test)
        how = config.training.without_loss, bool(config.estimators)
        current().run(test(registry, champion.version, path, *how) for path in untested)
        night.tested = [path.name for path in untested]


def _show(registry: Registry, held: Sequence[Dataset]) -> None:
    """Leave the newest report in the registry, where the service shows it."""
    reports = [each.path / REPORT for each in held if (each.path / EVALUATION).exists()]
    if reports:
        text = reports[-1].read_bytes()
        if registry.read(REPORT) != text:
            registry.write(REPORT, text)


def _put_to_test(
    registry: Registry, version: str, dataset: Path, without_loss: bool, estimators: bool
) -> None:
    """Test a version on a dataset, and leave in it what came of that."""
    check(dataset)
    tested = EvaluationRun(load(registry, version, estimators), dataset, without_loss)
    # The figures last, because their presence says that this step is done.
    for name, text in (
        (REPORT, tested.report()),
        (EVALUATION, json.dumps(tested.to_json(), indent=1) + "\n"),
    ):
        with durable.replaced(dataset / name) as aside:
            aside.write_text(text, encoding="utf-8")


def _train(config: Config, registry: Registry, found: Horizon, night: Night, say: Say) -> None:
    """Train on the newest window, and publish the result or keep it aside."""
    window = [dataset.path for dataset in found.window]
    if not window or _trained_on(registry, window):
        return
    night.gap = found.gap
    if found.gap is not None:
        say(found.gap)
    left = _left_unpublished(config, registry, window)
    if left is not None:
        registry.make_current(left)
        _tell(registry.manifest(left), night)
        return
    say(f"training on {counted(len(window), 'datasets')}")
    for dataset in window:
        check(dataset)
    lives = read_lives(window, config.training.without_loss).born(since=found.since)
    champion = _champion(registry)
    own = config.all_predicates().values(), config.all_estimators()
    candidate, decision = succeed(champion, lives, config.training, *own)
    if champion is None and registry.current() is not None:
        decision = replace(decision, reason=f"{registry.current()} is of another release")
    decision = _unless_pinned(registry, decision)
    candidate.manifest["decision"] = decision.to_json()
    store = registry.publish if decision.publish else registry.store
    version = store(candidate.write_parts, candidate.manifest)
    night.pinned = registry.pinned()
    _tell(registry.manifest(version), night)


def _tell(manifest: Mapping[str, Any], night: Night) -> None:
    night.version = manifest["version"]
    night.decision = Decision(**manifest["decision"])
    night.trained_on = manifest["trained_on"]["datasets"]


def _left_unpublished(config: Config, registry: Registry, window: Sequence[Path]) -> str | None:
    """Return the version that a run stored which was killed before it could publish it.

    It is what would come of training now: from the same input, judged against the same champion.
    """
    for latest in registry.versions()[-1:] if registry.pinned() is None else []:
        about = registry.manifest(latest)
        same = (
            about.get("decision", {}).get("publish", False)
            and about["compared_with"] in (registry.current(), None)
            and about["trained_on"]["datasets"] == [path.name for path in window]
            and about["settings"] == config.training.model_dump(mode="json")
        )
        model = load(registry, latest).model if same else None
        if model is not None and (model.predicates, model.estimators) == (
            config.all_predicates(),
            config.all_estimators(),
        ):
            return latest
    return None


def _champion(registry: Registry) -> Stored | None:
    """Return the published version; None where none is, or it is of another release.

    Nothing can be compared with one that this release cannot load, and that cannot answer.
    """
    try:
        return None if registry.current() is None else load(registry)
    except OlderModelError:
        return None


def _unless_pinned(registry: Registry, decision: Decision) -> Decision:
    """Return that a candidate is kept aside while another version is pinned."""
    pinned = registry.pinned()
    if pinned is None:
        return decision
    return replace(decision, publish=False, reason=f"{pinned} is pinned ({decision.reason})")


def _trained_on(registry: Registry, window: Sequence[Path]) -> bool:
    """Tell whether the last version is of this window, and where it should be."""
    if not registry.versions():
        return False
    latest = registry.versions()[-1]
    try:
        read_description(registry.directory(latest))
    except OlderModelError:
        return False
    manifest = registry.manifest(latest)
    aside = not manifest.get("decision", {}).get("publish", True)
    settled = aside or latest in (registry.current(), registry.withdrawn())
    return settled and {path.name for path in window} <= set(manifest["trained_on"]["datasets"])
