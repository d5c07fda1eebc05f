"""Refuses constant parts of expressions: constant answers, and divisions by zero."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from itertools import pairwise

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def refuse_constants(expression: ast.expr) -> None:
    """Raise ``ValueError`` for a part whose answer is constant, or that divides by zero.

    A model cannot learn a constant answer, and the part is a mistake: ``size > 5 or True``.
    """
    for node in ast.walk(expression):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            _constant(node.right, divisor=node)
    for part in _questions(expression):
        if not any(isinstance(node, ast.Name) for node in ast.walk(part)):
            raise ValueError(
                f"{ast.unparse(part)!r}: is constant: expected a column, so that lives differ"
            )
        if isinstance(part, ast.Compare) and _is_itself(part):
            raise ValueError(f"{ast.unparse(part)!r}: is constant: compares a value with itself")


def _questions(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts that are answered yes or no."""
    yield node
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _questions(operand)
    elif isinstance(node, ast.UnaryOp):
        yield from _questions(node.operand)


def _is_itself(part: ast.Compare) -> bool:
    sides = [ast.dump(side) for side in (part.left, *part.comparators)]
    return any(one == other for one, other in pairwise(sides))


def _constant(node: ast.expr, divisor: ast.BinOp | None = None) -> float | None:
    """Return the value of a constant number; None for other parts.

    Raises ``ValueError`` if it is a ``divisor`` and zero.
    """
    value: float | None = None
    match node:
        case ast.Constant(value=int(number) | float(number)):
            value = float(number) if abs(number) < 2**64 else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _constant(operand)
            value = None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            inner = _constant(right, node if isinstance(op, ast.Div) else None)
            outer = _constant(left)
            if inner is not None and outer is not None:
                value = _ARITHMETIC[type(op)](outer, inner)
    if value == 0 and divisor is not None:
        raise ValueError(f"{ast.unparse(divisor)!r}: divides by zero: expected another divisor")
    return value
