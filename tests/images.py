"""Images in which sections count everywhere, and a score of 1 is a yes."""

from __future__ import annotations

from collections.abc import Sequence

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.image.cuts import Cuts, ImagePredicate, Level, Meaning
from birthmark.predictor.image.format import Scoring, Section, compile_image
from birthmark.predictor.predicates.assignments import Assignments


def predicate(key: str, levels: Sequence[Level] = ()) -> ImagePredicate:
    """Return a predicate that is a yes from a score of 1 on, and else a no."""
    meaning = Meaning({point: Cuts(yes=1, sure=1, no=1) for point in POINTS}, levels)
    return ImagePredicate(key, [meaning] * len(HISTORY_SCOPES))


def image_of(
    keys: Sequence[str], sections: Sequence[Section], groups: Sequence[Assignments] = ()
) -> bytes:
    """Return the image of predicates by ``keys``, for all of which all ``sections`` count."""
    everywhere = [keys] * len(HISTORY_SCOPES)
    scoring = [Scoring(section, everywhere) for section in sections]
    return compile_image([predicate(key) for key in keys], scoring, groups)
