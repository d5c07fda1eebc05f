"""The file of moved thresholds: when a yes may be said of the published version.

    HISTORY.thresholds            beside a live history, by a follower, from the outcomes it sees
    <registry>/thresholds.json    by audits, from the outcomes of logged answers

A file has one writer, and is replaced atomically. It is about one version and kind at the bounded
operating point. Of a predicate and history scope the follower's threshold is in force while its
live history is not stale, else the audits', else the calibrated one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from birthmark.data.common import durable
from birthmark.data.common.numbers import Count, Instant, Score, Share
from birthmark.data.common.regular import read_regular
from birthmark.data.common.setting_errors import expected
from birthmark.data.follow.beside import MOST_BYTES
from birthmark.data.follow.beside import thresholds as of_history
from birthmark.data.settings import Strict
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.control.controller import ControlSettings, outcomes_to_lower
from birthmark.predictor.control.ledger import Ledger, most_false_positives
from birthmark.predictor.image.forest import NEVER
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.statistics.standing import Standing, standing
from birthmark_native import BM_PREDICATES_MAX

THRESHOLDS = "thresholds.json"
"""The name of the audits' file in a registry."""

_Name = Annotated[str, Field(min_length=1, max_length=255)]


class MovedThreshold(Strict):
    """A threshold in force, and the counts since the version was published.

    ``score`` is the least for a yes (None: there is no yes), and ``sum`` its equivalent in images
    (``predictor.image.forest.Output``). Without either, the threshold is as calibrated.
    """

    predicate: _Name
    told: HistoryScope
    calibrated: Score | None
    score: Score | None
    sum: Annotated[int, Field(strict=True, ge=0, le=NEVER)] | None
    outcomes: Count
    false_positives: Count

    @property
    def abstains(self) -> bool:
        """Whether no score is a yes."""
        return self.sum == NEVER


class MovedThresholds(Strict):
    """The thresholds of one version, with the outcomes known at `clock` (µs since the epoch)."""

    version: _Name
    kind: _Name
    bound: Share
    clock: Instant
    thresholds: Annotated[
        list[MovedThreshold], Field(max_length=BM_PREDICATES_MAX * len(HISTORY_SCOPES))
    ]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        rows = [(row.predicate, row.told) for row in self.thresholds]
        if len(set(rows)) < len(rows):
            raise ValueError("expected each predicate and history scope once")
        return self


class InvalidThresholdsError(ValueError):
    """Invalid thresholds, which are not applied; `field` is the place of the first error."""

    def __init__(self, field: str, what: str, found: Any = None) -> None:
        super().__init__(f"{field}: {what}" if field else what)
        self.field, self.what, self.found = field, what, found


def beside(history: Path) -> Path:
    """Return the path of the thresholds of a live history."""
    return of_history(history)


def write(path: Path, moved: MovedThresholds) -> None:
    """Replace the file of thresholds."""
    durable.write_text(path, moved.model_dump_json() + "\n")


def read(path: Path) -> MovedThresholds | None:
    """Return the thresholds in a file; None if it does not exist; raise `ValueError` for others."""
    try:
        return parse(read_regular(path, MOST_BYTES))
    except FileNotFoundError:
        return None
    except InvalidThresholdsError as error:
        raise ValueError(f"{path}: expected thresholds: {error}") from None


def read_registry(registry: Registry) -> MovedThresholds | None:
    """Return the audits' thresholds, if any; raise `RegistryError` for a damaged file."""
    if (content := registry.read(THRESHOLDS)) is None:
        return None
    try:
        return parse(content)
    except InvalidThresholdsError as error:
        raise RegistryError(
            f"{registry.place}/{THRESHOLDS}: expected thresholds: {error}"
        ) from None


def write_registry(registry: Registry, moved: MovedThresholds) -> None:
    """Replace the audits' thresholds."""
    registry.write(THRESHOLDS, (moved.model_dump_json(indent=1) + "\n").encode())


def parse(content: bytes | str) -> MovedThresholds:
    """Return thresholds from JSON; raise `InvalidThresholdsError` for others."""
    try:
        return MovedThresholds.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidThresholdsError(place, expected(first), first["input"]) from None


def check(moved: MovedThresholds, calibrated: Mapping[str, Sequence[int]], bound: float) -> None:
    """Raise `InvalidThresholdsError` for thresholds that contradict their counts.

    ``calibrated`` has the sums of the calibrated thresholds by predicate, for each of
    ``HISTORY_SCOPES`` (``Answerer.calibrated``); ``bound`` is that of the training. The counts are
    trusted, because only the follower has seen the outcomes.
    """
    if moved.bound != bound:
        raise InvalidThresholdsError("bound", f"expected {bound}, the version's own", moved.bound)
    settings = ControlSettings(bound=bound)
    for place, row in enumerate(moved.thresholds):
        field, what = "predicate", "expected a predicate of the version whose threshold can move"
        if (own := calibrated.get(row.predicate)) is not None:
            field, what = _fault(row, own[HISTORY_SCOPES.index(row.told)], settings)
        if what:
            found = getattr(row, field)
            raise InvalidThresholdsError(f"thresholds.{place}.{field}", what, found)


def _fault(row: MovedThreshold, own: int, settings: ControlSettings) -> tuple[str, str]:
    """Return the member of a threshold that the others contradict, and the error; "" if none."""
    if row.sum is None:
        return "sum", "expected that of a follower's threshold"
    can_be_yes = not row.abstains
    if row.false_positives > row.outcomes:
        return "false_positives", f"expected at most {row.outcomes}, the outcomes"
    if row.score is None and can_be_yes:
        return "sum", f"expected {NEVER}, as no score is a yes"
    if row.sum < own and row.outcomes < (least := outcomes_to_lower(settings)):
        return "outcomes", f"expected {least} or more for a threshold below the calibrated one"
    if can_be_yes and row.false_positives > (
        most := most_false_positives(settings.bound, row.outcomes)
    ):
        return "false_positives", f"expected at most {most:.1f} if there can be a yes"
    return "", ""


def standings_of(rows: Iterable[MovedThreshold], bound: float) -> dict[str, Standing]:
    """Return the standing of each predicate's bound, the worst of its history scopes."""
    found: dict[str, Standing] = {}
    for row in rows:
        own = standing(Ledger(bound, row.outcomes, row.false_positives))
        found[row.predicate] = max(own, found.get(row.predicate, own), key=list(Standing).index)
    return found
