"""The write-life hints that the daemon would give a load's files, by file of a build.

The rule is the daemon's default (``layout_hint/hintd/src/write_life/class.rs``), and so is who is
asked: the compiled image.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.linux.knowledge import Hint
from birthmark.data.datasets.tables import read_files
from birthmark.features.history_scope import mask_history
from birthmark.predictor import births
from birthmark.predictor.image.format import Image, predict
from birthmark.predictor.models.compile import compile_models
from birthmark.serving.models.loaded import LoadedModel

Rule = Mapping[Hint, Sequence[str]]
"""The predicates of each class, in the order of the classes."""

CLASSES = (Hint.SHORT, Hint.MEDIUM, Hint.EXTREME, Hint.LONG)
_SOURCE = Path(__file__).parents[2] / "layout_hint/hintd/src/write_life/class.rs"
_OPTION = r"#\[arg\(([^#]*?)\)\]\s*pub {}: Vec<String>"


def daemon_rule(source: str | None = None) -> Rule:
    """Return the rule that the daemon has by default, from its source.

    Raises ``ValueError`` where a class is not there.
    """
    text = _SOURCE.read_text() if source is None else source
    return {hint: _default(text, hint.name.lower()) for hint in CLASSES}


def _default(source: str, name: str) -> Sequence[str]:
    option = re.search(_OPTION.format(name), source)
    if option is None:
        raise ValueError(f"{_SOURCE}: expected the option {name!r}, found none")
    given = re.search(r'default_value = "([^"]+)"', option[1])
    return given[1].split(",") if given else []


def hints(
    model: LoadedModel, build: Path, days: Sequence[Path], history: bool, rule: Rule
) -> dict[int, int]:
    """Return by file the hint that the image's answers about its create call for.

    ``days`` are the datasets of what the build was made of; ``history`` says whether the image gets
    what was seen before each create.
    """
    lives = pa.concat_tables([births(read_files(day)) for day in days])
    lives = lives.unify_dictionaries().sort_by("born")
    creates = model.trained.creates("file", lives)
    if not history:
        creates = mask_history(creates, "nothing")
    image = Image(compile_models(model.trained.models[model.kind], model.point))
    waiting: dict[bytes, list[int]] = defaultdict(list)
    found = classes(predict(image, creates), len(lives), rule)
    for name, hint in zip(lives["name"].to_pylist(), found, strict=True):
        waiting[name].append(hint)
    made = (pc.field("op") == "create") & (pc.field("status") == 0)
    operations = build / "operations.parquet"
    table = pq.read_table(operations, columns=["name", "new_id"], filters=made)
    files = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return in_turn(files, waiting)


def classes(answers: Mapping[str, pa.BooleanArray], rows: int, rule: Rule) -> list[Hint]:
    """Return for each row the first class with a yes."""
    found = [Hint.NOT_SET] * rows
    for hint, keys in reversed(rule.items()):
        for key in keys:
            for row in pc.indices_nonzero(answers[key]).to_pylist() if key in answers else ():
                found[row] = hint
    return found


def in_turn(
    creates: Iterable[tuple[bytes, int]], hinted: Mapping[bytes, list[int]]
) -> dict[int, int]:
    """Return hints by file: of the files that were made under one name, each has the next."""
    waiting = {name: deque(own) for name, own in hinted.items()}
    found: dict[int, int] = {}
    for name, file in creates:
        if file not in found and waiting.get(name):
            found[file] = waiting[name].popleft()
    return found
