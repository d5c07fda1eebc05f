"""The compiled images of a trained model, as files: all predicates, and hints for file systems."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from birthmark.predictor.allocation.verdicts import Hinting, hint_image
from birthmark.predictor.image.header import HINTS_IMAGE as HINTS_IMAGE
from birthmark.predictor.image.header import IMAGE as IMAGE
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.predicates.assignments import Assignments

log = logging.getLogger(__name__)


class Answering(Hinting, Protocol):
    """The parts of ``TrainedModel`` that images are made of."""

    assignments: list[Assignments]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of models that there are."""


def kind_of_images(kinds: tuple[str, ...]) -> str | None:
    """Return the kind of the models in a trained model's images: ``best``, if there are several.

    None if no kind of ``kinds`` can be compiled: a user's estimators cannot.
    """
    return next((kind for kind in (BEST, *KINDS) if kind in kinds), None)


def save(trained: Answering, directory: Path, kind: str | None) -> list[str]:
    """Write the images of ``kind`` that can be compiled; return their names.

    Left out are models that the format has no room for, and hints that were not learned.
    """
    if kind is None:
        return []
    makers: dict[str, Callable[[], bytes]] = {
        IMAGE: lambda: compile_models(trained.of_kind(kind), assignments=trained.assignments)
    }
    if kind in trained.hints:
        makers[HINTS_IMAGE] = lambda: hint_image(trained, kind)
    saved = []
    for name, make in makers.items():
        try:
            content = make()
        except ValueError as error:
            log.warning("no %s: %s", name, error)
            continue
        (directory / name).write_bytes(content)
        saved.append(name)
    return saved
