"""The nightly run: ingest new traces, audit and test the published model, train its successor.

Each step writes its result atomically, and is skipped if the result exists. So a run can be killed
and started again at any time, and a second run in a row does nothing.
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
from birthmark.training.audit.run import audit, is_stored, keep
from birthmark.training.config import Config
from birthmark.training.engine import current, opened
from birthmark.training.learn.train import read_lives
from birthmark.training.nightly.candidate import train_candidate
from birthmark.training.nightly.compare import Decision
from birthmark.training.nightly.day_pages import Advise, lacking, write_pages
from birthmark.training.nightly.followed import take_in_hours
from birthmark.training.nightly.horizon import Horizon, horizon, learned_until
from birthmark.training.nightly.intake import (
    Dataset,
    check,
    clean_up_interrupted,
    datasets,
    decode_new_traces,
    new_traces,
    operations,
    set_aside,
    take_in,
    waiting,
    warnings,
)
from birthmark.training.nightly.retention import removable, remove
from birthmark.training.nightly.state import Recorder, recording
from birthmark.training.nightly.trace_files import unmatched, unreachable
from birthmark.training.registry.manifests import base_version
from birthmark.training.registry.stored import Stored, load
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.evaluation_run import EvaluationRun
from birthmark.training.reports.labels import EVALUATION_JSON, REPORT

OnStep = Callable[[str], None]


@dataclass
class Night:
    """The actions of one nightly run, and the version that is current after it.

    `traces` is the number of traces ingested as `datasets`. `waiting` are paths that may still be
    growing. `refused` maps refused traces and inaccessible directories to the reasons. `warnings`
    are about possible mistakes: patterns that match no file, traces without NFS. `audited` are the
    datasets of audits; `breaches` maps the predicates that abstain from now on to the reasons.
    `tested` are the datasets on which the published model was tested, and `pages` those with a new
    page about their day. `pinned` is the version whose pin prevented publication. `set_aside`
    counts records set aside from the traces, by reason; `left_out` and `gap` are those of
    `training.nightly.horizon.Horizon`. Retention `removed` datasets and `pruned` versions.
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
    pages: list[str] = field(default_factory=list)
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


def nightly(
    config: Config,
    on_step: OnStep = lambda text: None,
    now: datetime | None = None,
    advise: Advise | None = None,
) -> Night:
    """Run a night, reporting each step to `on_step`; return its actions.

    `now` is the present time (None: of this host's clock). `advise` returns advice for the server
    of a dataset, for its page. Raises `durable.LockedError` if another run works on the same
    datasets.
    """
    directory = config.datasets.directory
    durable.private(directory)
    with durable.locked(directory / ".lock", wait=False):
        night, registry = Night(), Registry(config.registry.directory)
        with recording(registry, directory) as state:
            with opened(config.engine, directory):
                _work(config, registry, night, on_step, now or datetime.now(UTC), advise)
            night.current = registry.current()
            _conclude(state, night, directory)
            if state.trouble is not None:
                night.warnings.append(
                    f"the state of this night could not be saved: {state.trouble}"
                )
        return night


def _work(
    config: Config,
    registry: Registry,
    night: Night,
    on_step: OnStep,
    now: datetime,
    advise: Advise | None,
) -> None:
    """Run each step of a night."""
    directory = config.datasets.directory
    _take_in(config, night, on_step)
    _take_in_hours(config, night, on_step)
    # Results about a damaged version, such as an audit, would stay.
    if (published := registry.current()) is not None:
        registry.verify(published)
    held = datasets(directory)
    _audit(config, registry, held, night, on_step)
    found = _training_horizon(config, held, night, on_step, now)
    if found is not None:
        _test(config, registry, found.datasets, night, on_step)
        _publish_report(registry, found.datasets)
    _write_pages(config, registry, held, night, on_step, advise)
    if found is not None:
        _train(config, registry, found, night, on_step)
    _retain(config, registry, found.datasets if found else [], night, on_step)


def _retain(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, on_step: OnStep
) -> None:
    """Remove everything older than the configured retention."""
    going = removable(config, registry, held, night.datasets)
    night.removed = [path.name for path in (*going.datasets, *going.hours)]
    night.pruned = going.versions
    if night.removed or night.pruned:
        many = counted(len(night.removed), "datasets"), counted(len(night.pruned), "versions")
        on_step(f"removing {many[0]} and {many[1]}")
    remove(config, registry, going)


def _conclude(state: Recorder, night: Night, directory: Path) -> None:
    """Record the actions of the night."""
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
    state.add(did, reason, night.datasets, night.version)
    state.end("refused" if night.refused else "done")


def _take_in(config: Config, night: Night, on_step: OnStep) -> None:
    directory = config.datasets.directory
    sources = config.traces, directory, config.servers
    found = new_traces(*sources)
    night.waiting = waiting(*sources)
    clean_up_interrupted(directory, found)
    night.refused, night.warnings = unreachable(config.globs), unmatched(config.globs)
    if not found:
        return
    on_step(f"ingesting {sum(map(len, found.values()))} traces")
    # A file that is no trace must not block the others every night.
    night.refused |= decode_new_traces(found, directory)
    for server, entries in found.items():
        found[server] = [entry for entry in entries if entry.path not in night.refused]
    night.traces = sum(map(len, found.values()))
    if night.traces:
        made = take_in(found, directory)
        night.datasets = [path.name for path in made]
        night.warnings += [line for path in made for line in warnings(path)]
        night.set_aside = dict(sum((Counter(set_aside(path)) for path in made), Counter[str]()))


def _take_in_hours(config: Config, night: Night, on_step: OnStep) -> None:
    """Ingest the hours that a follower has finished since the last night."""
    if config.follow is None or not config.follow.datasets.is_dir():
        return
    made = take_in_hours(config.follow.datasets, config.datasets.directory)
    if made is not None:
        on_step(f"ingested the followed hours {made.name}")
        night.datasets.append(made.name)
        night.warnings += warnings(made)
        night.set_aside = dict(Counter(night.set_aside) + Counter(set_aside(made)))


def _training_horizon(
    config: Config, held: Sequence[Dataset], night: Night, on_step: OnStep, now: datetime
) -> Horizon | None:
    """Return the training horizon; report the datasets that it leaves out."""
    settings = config.training
    found = horizon(held, settings.window_days, settings.least_births, now)
    if found is not None:
        night.left_out = found.left_out
        for name, why in found.left_out.items():
            on_step(f"leaving out {name}: {why}")
    return found


def _audit(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, on_step: OnStep
) -> None:
    """Audit each dataset that was not audited, if there is a log of predictions."""
    settings = config.audit
    if settings is None or registry.current() is None or not settings.log.is_dir():
        return
    for dataset in held:
        if is_stored(registry, dataset.path.name):
            continue
        on_step(f"auditing {dataset.path.name}")
        check(dataset.path)
        without_loss = config.training.without_loss
        found = audit(registry, dataset.path, settings.log, settings.joining(), without_loss)
        keep(registry, found)
        night.audited.append(dataset.path.name)
        night.breaches |= found.breaches


def _test(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, on_step: OnStep
) -> None:
    """Test the published model on every later dataset without a test."""
    champion = _champion(registry)
    if champion is None:
        return
    trained = champion.manifest["trained_on"]
    until = learned_until(champion.manifest, datetime.now(UTC))
    unseen = [each for each in held if each.path.name not in trained["datasets"]]
    later = [each for each in unseen if until is None or each.until > until]
    untested = [d.path for d in later if not (d.path / EVALUATION_JSON).exists()]
    if untested:
        on_step(f"testing {champion.version} on {counted(len(untested), 'datasets')}")
        test = delayed(_put_to_test)
        how = config.training.without_loss, bool(config.estimators)
        current().run(test(registry, champion.version, path, *how) for path in untested)
        night.tested = [path.name for path in untested]


def _publish_report(registry: Registry, held: Sequence[Dataset]) -> None:
    """Copy the newest report into the registry, for the service's page."""
    reports = [each.path / REPORT for each in held if (each.path / EVALUATION_JSON).exists()]
    if reports:
        text = reports[-1].read_bytes()
        if registry.read(REPORT) != text:
            registry.write(REPORT, text)


def _write_pages(
    config: Config,
    registry: Registry,
    held: Sequence[Dataset],
    night: Night,
    on_step: OnStep,
    advise: Advise | None,
) -> None:
    """Write a page about each new day."""
    if missing := lacking(config, held):
        on_step(f"writing {counted(len(missing), 'day pages')}")
        write_pages(registry, held, missing, advise)
        night.pages = [dataset.path.name for dataset in missing]


def _put_to_test(
    registry: Registry, version: str, dataset: Path, without_loss: bool, estimators: bool
) -> None:
    """Test a version on a dataset, and write the results into the dataset."""
    check(dataset)
    tested = EvaluationRun(load(registry, version, estimators), dataset, without_loss)
    # The figures come last, because their presence marks this step as done.
    for name, text in (
        (REPORT, tested.report()),
        (EVALUATION_JSON, json.dumps(tested.to_json(), indent=1) + "\n"),
    ):
        with durable.replaced(dataset / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _train(
    config: Config, registry: Registry, found: Horizon, night: Night, on_step: OnStep
) -> None:
    """Train on the newest window, and publish the result or set it aside."""
    window = [dataset.path for dataset in found.window]
    if not window or _trained_on(registry, window):
        return
    night.gap = found.gap
    if found.gap is not None:
        on_step(found.gap)
    left = _left_unpublished(config, registry, window)
    if left is not None:
        registry.make_current(left)
        _record_version(registry.manifest(left), night)
        return
    on_step(f"training on {counted(len(window), 'datasets')}")
    for dataset in window:
        check(dataset)
    lives = read_lives(window, config.training.without_loss).born(since=found.since)
    champion = _champion(registry)
    own = config.all_predicates().values(), config.all_estimators()
    candidate, decision = train_candidate(champion, lives, config.training, *own)
    if champion is None and (published := registry.base()) is not None:
        decision = replace(decision, reason=f"{published} is of another release")
    decision = _unless_pinned(registry, decision)
    candidate.manifest["decision"] = decision.to_json()
    store = registry.publish if decision.publish else registry.store
    version = store(candidate.write_parts, candidate.manifest)
    night.pinned = registry.pinned()
    _record_version(registry.manifest(version), night)


def _record_version(manifest: Mapping[str, Any], night: Night) -> None:
    night.version = manifest["version"]
    night.decision = Decision(**manifest["decision"])
    night.trained_on = manifest["trained_on"]["datasets"]


def _left_unpublished(config: Config, registry: Registry, window: Sequence[Path]) -> str | None:
    """Return the version that a killed run stored but did not publish.

    Training now would reproduce it: its input and its champion are the same.
    """
    for latest in registry.versions()[-1:] if registry.pinned() is None else []:
        about = registry.manifest(latest)
        same = (
            about.get("decision", {}).get("publish", False)
            and about["compared_with"] in (registry.base(), None)
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
    """Return the published version, without refreshes; None if there is none of this release.

    A refresh has learned from the day that it would be tested on. A version of another release
    cannot be loaded, compared or served.
    """
    try:
        return None if (published := registry.base()) is None else load(registry, published)
    except OlderModelError:
        return None


def _unless_pinned(registry: Registry, decision: Decision) -> Decision:
    """Set a candidate aside while another version is pinned."""
    pinned = registry.pinned()
    if pinned is None:
        return decision
    return replace(decision, publish=False, reason=f"{pinned} is pinned ({decision.reason})")


def _trained_on(registry: Registry, window: Sequence[Path]) -> bool:
    """Return whether the last version is of this window, and published or set aside."""
    if not registry.versions():
        return False
    latest = registry.versions()[-1]
    try:
        read_description(registry.directory(latest))
    except OlderModelError:
        return False
    manifest = registry.manifest(latest)
    is_set_aside = not manifest.get("decision", {}).get("publish", True)
    withdrawn = base_version(registry.withdrawn() or "")
    settled = is_set_aside or latest in (registry.base(), withdrawn)
    return settled and {path.name for path in window} <= set(manifest["trained_on"]["datasets"])
