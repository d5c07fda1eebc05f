"""The nightly run: take in new traces, test the published model on them, train its successor.

Each step leaves its result whole or not at all, and is skipped where its result is there; so a
run may be killed and started again at any time, and a second run in a row does nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from data import durable
from training.candidate import succeed
from training.compare import Decision
from training.config import Config
from training.intake import Dataset, datasets, new_traces, take_in, unreadable
from training.registry import Registry
from training.train import read_lives
from training.trial import Trial, load

EVALUATION = "evaluation.json"
REPORT = "report.html"

Say = Callable[[str], None]


@dataclass
class Night:
    """What one nightly run did, and the version that is current after it.

    `traces` is the number taken in as `dataset`, `refused` maps the paths of those that cannot
    be to the reasons; `tested` are the datasets that the published model was tested on; `pinned` is
    the version because of which nothing was published.
    """

    traces: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    dataset: str | None = None
    tested: list[str] = field(default_factory=list)
    trained_on: list[str] = field(default_factory=list)
    version: str | None = None
    decision: Decision | None = None
    pinned: str | None = None
    current: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON objects."""
        decision = self.decision and self.decision.to_json()
        return {**vars(self), "decision": decision}


def nightly(config: Config, say: Say = lambda text: None) -> Night:
    """Do what there is to do, telling each step to `say`; return what was done.

    Raises `durable.LockedError` where another run is at work on the same datasets.
    """
    directory = config.datasets.directory
    directory.mkdir(parents=True, exist_ok=True)
    with durable.locked(directory / ".lock", wait=False):
        night, registry = Night(), Registry(config.registry.directory)
        _take_in(config, night, say)
        held = datasets(directory)
        _test(registry, held, night, say, config.training.without_loss)
        _train(config, registry, held, night, say)
        night.current = registry.current()
        return night


def _take_in(config: Config, night: Night, say: Say) -> None:
    entries = new_traces(config.traces, config.datasets.directory)
    # One file that is no trace must not keep the others waiting, night after night.
    night.refused = unreadable(entries)
    entries = [entry for entry in entries if entry["path"] not in night.refused]
    night.traces = len(entries)
    if entries:
        say(f"taking in {len(entries)} traces")
        night.dataset = take_in(entries, config.datasets.directory).name


def _test(
    registry: Registry, held: Sequence[Dataset], night: Night, say: Say, without_loss: bool
) -> None:
    """Test the published model on every later dataset that has not been tested on."""
    if registry.current() is None:
        return
    champion = load(registry)
    trained = champion.manifest["trained_on"]
    until = datetime.fromisoformat(trained["until"])
    for dataset in held:
        seen = dataset.path.name in trained["datasets"] or dataset.until <= until
        if seen or (dataset.path / EVALUATION).exists():
            continue
        say(f"testing {champion.version} on {dataset.path.name}")
        trial = Trial(champion, dataset.path, without_loss)
        durable.write_text(dataset.path / REPORT, trial.report())
        # Last, because its presence says that this step is done.
        durable.write_text(dataset.path / EVALUATION, json.dumps(trial.to_json(), indent=1) + "\n")
        night.tested.append(dataset.path.name)


def _train(
    config: Config, registry: Registry, held: Sequence[Dataset], night: Night, say: Say
) -> None:
    """Train on the newest window, and publish the result or keep it aside."""
    if not held:
        return
    since = held[-1].until - timedelta(days=config.training.window_days)
    window = [dataset.path for dataset in held if dataset.until > since]
    if _trained_on(registry, window):
        return
    say(f"training on {len(window)} datasets")
    lives = read_lives(window, config.training.without_loss).born(since=since)
    champion = load(registry) if registry.current() is not None else None
    predicates = config.all_predicates().values()
    candidate, decision = succeed(champion, lives, config.training, predicates)
    decision = _unless_pinned(registry, decision)
    candidate.manifest["decision"] = decision.to_json()
    keep = registry.publish if decision.publish else registry.store
    night.version = keep(candidate.write_parts, candidate.manifest)
    night.decision, night.pinned = decision, registry.pinned()
    night.trained_on = candidate.manifest["trained_on"]["datasets"]


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
    manifest = registry.manifest(latest)
    aside = not manifest.get("decision", {}).get("publish", True)
    return (aside or latest == registry.current()) and {path.name for path in window} <= set(
        manifest["trained_on"]["datasets"]
    )
