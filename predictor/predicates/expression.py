"""Predicates as expressions over the columns of a life: ``writes > 3 and lifespan <= 60``.

They have Python's syntax, and are parsed, never run. There are

- the columns of the table (``data.schema.FILES``, or ``NAMES`` for predicates about names), with
  the aliases of ``NAMES_OF``; ``lifespan``, in seconds;
- numbers, and text in quotes (``"…"``, or ``b"…"`` of bytes), compared with names byte by byte;
- ``+ - * /``, ``< <= > >= == !=``, ``in`` before a list of values, ``and or not`` and brackets;
- ``name.startswith("…")``, ``name.endswith("…")`` and ``"…" in name``.

The difference of two times is in seconds. Numbers are 64-bit floating point.

Unknown columns follow Kleene's logic. For a life whose end was not seen, the observed time is a
lower bound of ``lifespan``: a comparison is known once that bound decides it. Anywhere else
``lifespan`` is unknown until the end. As in ``predictor.predicates.rules``, other columns are those
at the end of observation; for lives that go on (``rules.GOES_ON``) only the columns at birth are
known.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from birthmark.data.common.choices import expect
from birthmark.data.common.durations import SECOND
from birthmark.data.schema import FILES, NAMES
from birthmark.features.columns import decoded
from birthmark.predictor.predicates.constants import refuse_constants
from birthmark.predictor.predicates.predicate import Subject
from birthmark.predictor.predicates.rules import GOES_ON

LONGEST, DEEPEST = 2000, 50
"""Greatest length of an expression in characters, and greatest depth of nesting."""

NAMES_OF: Mapping[str, Mapping[str, str]] = {
    "file": {"size": "max_size"},
    "name": {"size": "file_max_size", "writes": "file_writes"},
}
"""By subject: the aliases of columns in expressions."""

AT_BIRTH = (
    *("server", "fh", "name", "dir_fh", "dir_name", "kind", "how_born", "born", "birth_seen"),
    *("first_seen", "mode", "uid", "gid", "client"),
)
"""The columns that do not change while a life goes on."""

_SCHEMAS = {"file": FILES, "name": NAMES}
_LIFESPAN = "lifespan"

_ARITHMETIC: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: pc.add,
    ast.Sub: pc.subtract,
    ast.Mult: pc.multiply,
    ast.Div: pc.divide,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: pc.less,
    ast.LtE: pc.less_equal,
    ast.Gt: pc.greater,
    ast.GtE: pc.greater_equal,
    ast.Eq: pc.equal,
    ast.NotEq: pc.not_equal,
}
_REVERSED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}
_METHODS = {"startswith": pc.starts_with, "endswith": pc.ends_with}


@dataclass(frozen=True)
class Expression:
    """The rule of a predicate that an expression of ``text`` decides."""

    text: str

    def __call__(self, table: pa.Table, subject: Subject) -> pa.Array:
        """Return the answers for a table of lives; raise ``ValueError`` if they are not boolean."""
        answers = _Lives(table, subject).value(_parsed(self.text))
        if not pt.is_boolean(answers.type):
            raise ValueError(f"{self.text!r}: expected a question, whose answer is yes or no")
        return answers

    def check(self, subject: Subject) -> None:
        """Raise ``ValueError``, naming the place, unless it is valid for lives of a subject.

        Constant answers and divisions by zero are invalid, too.
        """
        self(_SCHEMAS[subject].empty_table(), subject)
        refuse_constants(_parsed(self.text))


@lru_cache
def _parsed(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"expected an expression of at most {LONGEST} characters")
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r}: expected an expression: {error.msg}") from error
    except (ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"{text!r}: expected an expression: {error}") from error
    parts: list[ast.AST] = [parsed]
    for _ in range(DEEPEST):
        parts = [child for part in parts for child in ast.iter_child_nodes(part)]
    if parts:
        raise ValueError(f"expected an expression of parts at most {DEEPEST} deep in each other")
    return parsed


@dataclass(frozen=True)
class _Lives:
    """The lives on which an expression is evaluated."""

    table: pa.Table
    subject: Subject

    def value(self, node: ast.expr) -> pa.Array:
        """Return the value of a part of an expression: a number, time, text or answer per life."""
        match node:
            case ast.Name(id=name):
                return self._column(name)
            case ast.Constant(value=constant):
                return self._constant(node, constant)
            case ast.BoolOp(op=op, values=values):
                join = pc.and_kleene if isinstance(op, ast.And) else pc.or_kleene
                return reduce(join, [self._question(operand) for operand in values])
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return pc.invert(self._question(operand))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return pc.negate(self._number(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self._computed(node, left, op, right)
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = zip([left, *others], ops, others, strict=False)
                return reduce(pc.and_kleene, [self._compared(node, *side) for side in sides])
            case ast.Call(func=ast.Attribute(value=of, attr=method), args=[sought], keywords=[]):
                return self._called(node, of, method, sought)
        raise ValueError(f"{ast.unparse(node)!r}: expressions have no such thing")

    def _column(self, name: str) -> pa.Array:
        schema, other = _SCHEMAS[self.subject], NAMES_OF[self.subject]
        expect(f"column of a {self.subject}'s life", name, [_LIFESPAN, *other, *schema.names])
        if name == _LIFESPAN:
            return pc.if_else(self.table["death_seen"], self._watched(), _null(pa.float64()))
        name = other.get(name, name)
        return self._final(name, _plain(decoded(self.table[name])))

    def _final(self, name: str, column: pa.Array) -> pa.Array:
        """Return a column, unknown where it can still change."""
        if GOES_ON not in self.table.column_names or name in AT_BIRTH:
            return column
        return pc.if_else(self._plainly(GOES_ON), _null(column.type), column)

    def _plainly(self, name: str) -> pa.Array:
        return decoded(self.table[name])

    def _watched(self) -> pa.Array:
        """Return the seconds for which each life was observed, or the lifespan of the dead."""
        born = self._plainly("born")
        end = pc.if_else(
            self._plainly("death_seen"), self._plainly("died"), self._plainly("observed_until")
        )
        seconds = _seconds(pc.subtract(end, born))
        return pc.if_else(self._plainly("birth_seen"), seconds, _null(pa.float64()))

    def _constant(self, node: ast.expr, value: object) -> pa.Array:
        if isinstance(value, (str, bytes)):
            return pa.repeat(pa.scalar(_bytes(value)), len(self.table))
        if isinstance(value, bool):
            return pa.repeat(pa.scalar(value), len(self.table))
        if isinstance(value, (int, float)) and abs(value) < 2**64 and math.isfinite(value):
            return pa.repeat(pa.scalar(float(value)), len(self.table))
        raise ValueError(f"{ast.unparse(node)!r}: expected a number, or text in quotes")

    def _question(self, node: ast.expr) -> pa.Array:
        return self._of_kind(node, "an answer, yes or no")

    def _number(self, node: ast.expr) -> pa.Array:
        return self._of_kind(node, "a number")

    def _of_kind(self, node: ast.expr, kind: str) -> pa.Array:
        value = self.value(node)
        if _kind(value) != kind:
            raise ValueError(f"{ast.unparse(node)!r}: expected {kind}, found {_kind(value)}")
        return value

    def _computed(
        self, node: ast.expr, left: ast.expr, op: ast.operator, right: ast.expr
    ) -> pa.Array:
        one, other = self.value(left), self.value(right)
        if isinstance(op, ast.Sub) and _kind(one) == _kind(other) == "a time":
            return _seconds(pc.subtract(one, other))
        if not _kind(one) == _kind(other) == "a number":
            raise ValueError(f"{ast.unparse(node)!r}: expected numbers, or one time less another")
        result = _ARITHMETIC[type(op)](one, other)
        return pc.if_else(pc.is_nan(result), _null(pa.float64()), result)  # 0 / 0 is not known

    def _compared(self, node: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr) -> pa.Array:
        if isinstance(op, (ast.In, ast.NotIn)):
            contained = self._contained(node, left, right)
            return pc.invert(contained) if isinstance(op, ast.NotIn) else contained
        if type(op) not in _COMPARISONS:
            raise ValueError(f"{ast.unparse(node)!r}: expressions have no such comparison")
        if _is_lifespan(left) or _is_lifespan(right):
            return self._of_lifespan(left, op, right)
        one, other = self.value(left), self.value(right)
        if _kind(one) != _kind(other):
            raise ValueError(f"{ast.unparse(node)!r}: compares {_kind(one)} with {_kind(other)}")
        return _COMPARISONS[type(op)](one, other)

    def _of_lifespan(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> pa.Array:
        """Return the comparison of a lifespan, known as soon as the observed time decides it."""
        kind = type(op)
        if not _is_lifespan(left):
            left, right, kind = right, left, _REVERSED.get(kind, kind)
        watched, other = self._watched(), self._number(right)
        reached = pc.greater_equal if kind in (ast.GtE, ast.Lt) else pc.greater
        known = pc.or_(self._plainly("death_seen"), reached(watched, other))
        return pc.if_else(known, _COMPARISONS[kind](watched, other), _null(pa.bool_()))

    def _contained(self, node: ast.expr, left: ast.expr, right: ast.expr) -> pa.Array:
        """Return whether a value is in a list, or a text is within another."""
        if isinstance(right, (ast.Tuple, ast.List)) and right.elts:
            equal = [self._compared(node, left, ast.Eq(), value) for value in right.elts]
            return reduce(pc.or_kleene, equal)
        return self._searched(node, right, left, pc.match_substring)

    def _called(self, node: ast.expr, of: ast.expr, method: str, sought: ast.expr) -> pa.Array:
        if method not in _METHODS:
            raise ValueError(f"{ast.unparse(node)!r}: expected startswith or endswith")
        return self._searched(node, of, sought, _METHODS[method])

    def _searched(
        self, node: ast.expr, of: ast.expr, sought: ast.expr, search: Callable[..., pa.Array]
    ) -> pa.Array:
        if not isinstance(sought, ast.Constant) or not isinstance(sought.value, (str, bytes)):
            raise ValueError(f"{ast.unparse(node)!r}: expected text in quotes, and where to look")
        return search(self._of_kind(of, "text"), _bytes(sought.value))


def _is_lifespan(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == _LIFESPAN


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _plain(column: pa.Array) -> pa.Array:
    """Return a column as one of the four kinds of values."""
    if pt.is_integer(column.type) or pt.is_floating(column.type):
        return column.cast(pa.float64(), safe=False)
    return column.cast(pa.binary()) if pt.is_string(column.type) else column


def _kind(value: pa.Array) -> str:
    if pt.is_floating(value.type):
        return "a number"
    if pt.is_timestamp(value.type):
        return "a time"
    return "an answer, yes or no" if pt.is_boolean(value.type) else "text"


def _seconds(duration: pa.Array) -> pa.Array:
    return pc.divide(duration.cast(pa.int64()).cast(pa.float64()), float(SECOND))


def _null(kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(None, kind)
