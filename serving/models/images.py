"""The published version's stored images, which answer predictions and hints.

They need neither the models nor pyarrow, whose import takes most of a service's start: so a service
answers from them until the rest is loaded.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from birthmark.data.common.regular import MODEL_BYTES, read_regular
from birthmark.data.common.sizes import size
from birthmark.features.scopes import HISTORY_SCOPES
from birthmark.predictor.image.header import HINTS_IMAGE, IMAGE, at_point, is_older
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.parameters import REGION
from birthmark.serving.models.hint_image import Hints, etag_of
from birthmark.serving.settings import Settings
from birthmark.training.registry.published import Published, read_published
from birthmark.training.registry.thresholds import MovedThreshold
from birthmark.training.registry.versions import Registry
from birthmark_native import HINTS, Answerer, SharedHistory, Tally

log = logging.getLogger(__name__)


@dataclass
class Tallies:
    """Counts of no and yes for each predicate and each hint.

    ``scopes_used`` counts by history scope the answers that used another scope, and this one.
    """

    predictions: Tally = field(default_factory=Tally)
    hints: Tally = field(default_factory=Tally)
    scopes_used: Tally = field(default_factory=Tally)


class NoImageError(ValueError):
    """The version has no stored image of the kind, region and format."""


@dataclass(frozen=True)
class ImageModel(Published):
    """A published version that answers from its stored images.

    `live` is the live history, used for creates that carry no history. `has_usual_region` is
    whether its hints are for a region of the usual size, as those of the stored image are.
    """

    tallies: Tallies = field(default_factory=Tallies)
    live: SharedHistory | None = None
    has_usual_region: bool = True

    @cached_property
    def answerer(self) -> Answerer:
        """The answerer, from the image of all predicates."""
        return self._answerer(self._image(), self.tallies.predictions, three_way=True)

    @cached_property
    def hints(self) -> Hints | None:
        """The hints to file systems; None if the model has not learned any."""
        if (content := self._hint_image()) is None:
            return None
        content = at_point(content, self.point)
        answerer = self._answerer(content, self.tallies.hints)
        return Hints(content, answerer, etag_of(self.version, content))

    def _image(self) -> bytes:
        """Return the image of all predicates; raise `NoImageError` if it must be compiled."""
        if (content := self._stored(IMAGE)) is None:
            raise NoImageError(self.version)
        return content

    def _hint_image(self) -> bytes | None:
        """Return the image of hints, None if there are none; raise `NoImageError` likewise."""
        content = self._stored_hints()
        if content is None and self._description.get("hints"):
            raise NoImageError(self.version)
        return content

    @cached_property
    def _description(self) -> Mapping[str, Any]:
        description: dict[str, Any] = json.loads(
            read_regular(self.directory / "model.json", MODEL_BYTES)
        )
        return description

    @property
    def _abstaining_hints(self) -> set[str]:
        return self.abstaining.keys() & {hint.key for hint in HINTS}

    def _stored_hints(self) -> bytes | None:
        usual = self.has_usual_region and not self._abstaining_hints
        return self._stored(HINTS_IMAGE) if usual else None

    def _stored(self, name: str) -> bytes | None:
        """Return an image of the version, if it has one of the kind in the current format."""
        if name not in self.manifest["parts"] or self.kind != self._description.get("images"):
            return None
        content = read_regular(self.directory / name, MODEL_BYTES)
        if is_older(content):
            log.info("model %s: %s has an older format and is rebuilt", self.version, name)
            return None
        return content

    @property
    def _knows_history(self) -> list[bool]:
        """Whether any kind that answers uses histories, for each of `HISTORY_SCOPES`."""
        if self.kind == BEST:
            chosen = list(self.manifest["kinds"][self.point].values())
        else:
            chosen = [dict.fromkeys(HISTORY_SCOPES, self.kind)]
        return [
            any(KINDS[choice[scope]].knows_history for choice in chosen) for scope in HISTORY_SCOPES
        ]

    def _answerer(self, content: bytes, tally: Tally, three_way: bool = False) -> Answerer:
        answerer = Answerer(
            content,
            (self.version, self.kind, self.point),
            (tally, self.tallies.scopes_used),
            three_way,
            self.live,
            self._knows_history,
        )
        put_in_force(answerer, self.audited_rows)
        return answerer


def put_in_force(answerer: Answerer, moved: Iterable[MovedThreshold]) -> None:
    """Replace all thresholds of an answerer; those without a sum are as calibrated."""
    known = set(answerer.predicates)
    answerer.set_thresholds(
        [
            (row.predicate, HISTORY_SCOPES.index(row.told), row.sum)
            for row in moved
            if row.sum is not None and row.predicate in known
        ]
    )


def live_history(settings: Settings) -> SharedHistory | None:
    """Return the live history of the `settings`, if any."""
    if settings.history is None:
        return None
    limits = settings.history_age, settings.history_lag, settings.history_loss
    return SharedHistory(settings.history, *limits)


def load_images(settings: Settings, tallies: Tallies) -> ImageModel | None:
    """Return the published version with its stored images, if it can answer from them.

    Answers are counted in `tallies`. The loader of the whole version tells what is wrong with one
    that cannot be loaded here.
    """
    try:
        published = read_published(Registry(settings.registry), settings.model, settings.point)
        usual = size(settings.region) == size(REGION)
        model = ImageModel(
            **vars(published), tallies=tallies, has_usual_region=usual, live=live_history(settings)
        )
        # Read here, so that no request waits for them.
        _ = model.answerer, model.hints
    except (OSError, ValueError, KeyError) as error:
        log.debug("the first answers wait for the whole model: %s", error)
        return None
    return model
