"""Predictions of files that are no longer new, in the light of their lives so far."""

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
    """Return by key what each life so far has decided; null where that is still open.

    ``lives`` has the columns of ``data.schema.FILES`` (or ``NAMES``, for the subject ``name``) as
    they are now: ``observed_until`` is now, or the death. A life without a death seen goes on: it
    may grow, be written, be read, and die at any time. So an answer is given only where it is
    that of every life that begins like this one: of a file 3 s old, ``lifespan<=1`` is false and
    ``lifespan<=5`` not decided; of one that holds 5 bytes ``size=zero`` is false and
    ``0<size<=16k`` not decided. A file whose birth was not seen is at least as old as the trace
    shows it.
    """
    table = _so_far(lives)
    asked = {key: p for key, p in predicates.items() if p.subject == subject}
    return {key: predicate.evaluate(table) for key, predicate in asked.items()}


def reconsider(
    lives: pa.Table,
    predictions: Mapping[str, pa.Array],
    predicates: Mapping[str, Predicate] = BUILT_IN,
    subject: str = "file",
) -> dict[str, pa.Array]:
    """Return ``predictions``, corrected where a file's life so far has decided them.

    ``predictions`` has by key an answer (boolean) or a score (float, 0 to 1) for each row of
    ``lives`` (see ``settled``). What is refuted becomes false or 0, what is confirmed true or 1;
    all else is as it was predicted. Block writes per hour: ``WriteRates.reconsider``.

    Raises ``ValueError`` for a key that is none of ``predicates``.
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
