"""The type of predicates: questions about lives, answered yes, no or unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

Subject = Literal["file", "name", "directory"]
Rule = Callable[[pa.Table, Subject], pa.Array | pa.ChunkedArray]


@dataclass(frozen=True, repr=False)
class Predicate:
    """A named boolean question about lives, answered true, false or unknown.

    ``subject`` selects the lives: rows of the files table, of the names table, or of
    ``features.DIRECTORIES``. ``source`` cites the definition; ``config`` is the configuration, if
    the predicate comes from there.
    """

    name: str
    subject: Subject
    description: str
    source: str
    rule: Rule = field(repr=False, compare=False)
    config: Mapping[str, Any] | None = field(default=None, repr=False, hash=False)

    def __repr__(self) -> str:
        return f"<Predicate {self.key}: {self.description}>"

    @property
    def key(self) -> str:
        """The predicate's name among those of all subjects: ``lock``, or ``name:lock``."""
        return self.name if self.subject == "file" else f"{self.subject}:{self.name}"

    def evaluate(self, table: pa.Table) -> pa.BooleanArray:
        """Return the answer for each row of ``table``; null where the trace does not decide.

        ``table`` has the columns of ``data.schema.FILES``, ``data.schema.NAMES`` or
        ``features.DIRECTORIES``, by the predicate's subject.
        """
        answers = self.rule(table, self.subject)
        return answers.combine_chunks() if isinstance(answers, pa.ChunkedArray) else answers


def is_about_names(key: str) -> bool:
    """Tell whether the predicate of a key is about names, not files."""
    return key.startswith("name:")
