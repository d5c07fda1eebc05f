"""A newly trained model: its parts, card and manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from birthmark.data.common.plurals import counted
from birthmark.predictor import Predicate, TrainedModel
from birthmark.training.config import Settings, Testing, Training
from birthmark.training.learn.train import Lives, train
from birthmark.training.nightly.card import card_of, save_card
from birthmark.training.nightly.compare import Comparison, Decision, decide, test_first
from birthmark.training.registry.stored import Stored

FIRST = Decision(True, "nothing was published before")


def unless_too_few(
    decision: Decision, champion: Stored | None, files: int, least: float
) -> Decision:
    """Set a candidate aside that learned from far fewer files than the published model."""
    before = champion.manifest["trained_on"]["files"] if champion else 0
    if not decision.publish or files >= least * before:
        return decision
    reason = (
        f"learned from {counted(files, 'files')}, less than {least:g} of the {before:,} of the"
        f" published model ({decision.reason})"
    )
    return replace(decision, publish=False, reason=reason)


@dataclass(frozen=True)
class Candidate:
    """A model, the manifest to store it under, and the card that describes it."""

    model: TrainedModel
    manifest: dict[str, Any]
    card: Mapping[str, Any]

    def write_parts(self, directory: Path) -> None:
        """Write all parts of the version into `directory`, deterministically."""
        self.model.save(directory, self.manifest["serve"])
        save_card(self.card, directory)


def train_candidate(
    champion: Stored | None,
    lives: Lives,
    settings: Training,
    predicates: Iterable[Predicate],
    estimators: Mapping[str, Any] = {},
) -> tuple[Candidate, Decision]:
    """Train a successor to `champion` on `lives`, and decide whether to publish it.

    `estimators` are trained and tested, too, but do not answer.
    """
    predicates = list(predicates)
    model, manifest = train(lives, settings, predicates, estimators)
    if champion is None:
        decision, test = FIRST, test_first(lives, settings, predicates, estimators)
    else:
        published, serve = (champion.model, champion.manifest), manifest["serve"]
        decision, test = decide(*published, lives, settings, predicates, serve, estimators)
    decision = unless_too_few(decision, champion, len(lives.files), settings.least_births)
    return _candidate(champion, model, manifest, test, judged=True), decision


def train_alone(
    champion: Stored | None,
    lives: Lives,
    settings: Settings,
    predicates: Iterable[Predicate] | None = None,
    test: bool = Testing().test,
    estimators: Mapping[str, Any] = {},
) -> Candidate:
    """Train on `lives` without comparison to the published model.

    `test` first trains on all but the newest lives, and reports accuracy on those in the card.
    """
    predicates = None if predicates is None else list(predicates)
    known = Training.model_validate({**settings.model_dump(), "kinds": list(settings.trained)})
    found = test_first(lives, known, predicates, estimators) if test else None
    trained = train(lives, settings, predicates, estimators)
    return _candidate(champion, *trained, found, judged=False)


def _candidate(
    champion: Stored | None,
    model: TrainedModel,
    manifest: dict[str, Any],
    test: Comparison | None,
    judged: bool,
) -> Candidate:
    manifest |= {
        "compared_with": champion and champion.version,
        "judged": judged,
        "tested": test is not None,
        "figures": test.assessment.evaluation.to_pylist() if test else [],
    }
    return Candidate(model, manifest, card_of(model, manifest, test, champion))
