"""Predictions for existing files, updated by their lives so far."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.choices import expect
from birthmark.predictor.predicates import BUILT_IN, Predicate
from birthmark.predictor.predicates.rules import GOES_ON


def settled(
    lives: pa.Table, predicates: Mapping[str, Predicate] = BUILT_IN, subject: str = "file"
) -> dict[str, pa.BooleanArray]:
    """Return by key the answers that each life so far has decided; null where undecided.

    ``lives`` has the current columns of ``data.schema.FILES`` (or ``NAMES``, for the subject
    ``name``): ``observed_until`` is now, or the death. A life without a death goes on: it may grow,
    be written, be read, and die at any time. So a life is decided only where every life with the
    same beginning has that answer: for a file 3 s old, ``lifespan<=1`` is false and
    ``lifespan<=5`` undecided; for one of 5 bytes ``size=zero`` is false and ``0<size<=16k``
    undecided. A file whose birth was not seen is at least as old as the trace shows.
    """
    table = _so_far(lives)
    return {key: p.evaluate(table) for key, p in predicates.items() if p.subject == subject}


def reconsider(
    lives: pa.Table,
    predictions: Mapping[str, pa.Array],
    predicates: Mapping[str, Predicate] = BUILT_IN,
    subject: str = "file",
) -> dict[str, pa.Array]:
    """Return ``predictions``, corrected where a file's life so far has decided them.

    ``predictions`` has by key an answer (boolean) or a score (float, 0 to 1) for each row of
    ``lives`` (see ``settled``). Refuted ones become false or 0, confirmed ones true or 1; all
    others stay. For block writes per hour see ``WriteRates.reconsider``.

    Raises ``ValueError`` for a key that is not in ``predicates``.
    """
    decided = settled(lives, predicates, subject)
    for key in sorted(predictions):
        expect(f"predicate about a {subject}", key, decided)
    return {
        key: pc.coalesce(decided[key].cast(prediction.type), prediction)
        for key, prediction in predictions.items()
    }


def _so_far(lives: pa.Table) -> pa.Table:
    goes_on = pc.invert(lives["death_seen"])
    since = pc.if_else(goes_on, pc.coalesce(lives["born"], lives["first_seen"]), lives["born"])
    changed = {
        "born": since,
        "birth_seen": pc.or_(lives["birth_seen"], goes_on),
    }
    for name, column in changed.items():
        lives = lives.set_column(lives.schema.get_field_index(name), name, column)
    return lives.append_column(GOES_ON, goes_on)
