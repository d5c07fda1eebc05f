"""What commands print for people: the only way to their terminal.

Names, paths and messages come from whoever wrote a trace. What is printed here is plain text,
neither markup nor emoji, and what a terminal would obey in it is escaped. What programs read (JSON,
traces, tables) does not come here: it is written byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from birthmark.data.common.visible import visible, visible_lines


class Terminal(Console):
    """A console that obeys nothing of what it prints.

    A string is one line, and its line feeds are escaped; a `Text` may have several lines.
    """

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a string as text, escaped before its width is measured."""
        return super().render_str(visible(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield what is printed, with escapes in all that was not a string, too."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible_lines(segment.text))


Styled = Text
"""What ``styled`` returns."""


def styled(text: str, style: str) -> Styled:
    """Return text in a style, to be shown as a cell of a table or a branch of a tree."""
    return Text(visible(text), style)


def stacked(lines: Iterable[Styled]) -> Styled:
    """Return lines one below the other, which are cut and not wrapped."""
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


def line(text: str, stderr: bool = False, style: str = "") -> None:
    """Print one line, however long, to standard output or error."""
    Terminal(stderr).print(text, soft_wrap=True, style=style)


def fields(told: Mapping[str, Any]) -> None:
    """Print a line for each value that there is, behind its label."""
    for label, value in told.items():
        text = ", ".join(value) if isinstance(value, list) else value
        if text not in (None, ""):
            line(f"{label:>12}  {text:,}" if isinstance(text, int) else f"{label:>12}  {text}")


def numbers(*headings: str) -> list[Column]:
    """Return columns of a table that stand to the right, as numbers do."""
    return [Column(heading, justify="right") for heading in headings]


def show(shown: RenderableType, columns: int = 0) -> None:
    """Print a table or a tree on standard output.

    Where nobody's terminal limits it, it has the width that it needs. On a terminal it has at least
    so many `columns`: too narrow a one wraps its lines, and loses nothing.
    """
    terminal = Terminal()
    if not terminal.is_terminal:
        unlimited = terminal.options.update(width=sys.maxsize)
        columns = terminal.measure(shown, options=unlimited).maximum
    terminal.width = max(columns, terminal.width)
    terminal.print(shown)


@contextmanager
def working(step: str) -> Iterator[Callable[[str], None]]:
    """Show the current step on a terminal, and nothing in a pipe; yield what tells the next."""
    with Terminal(stderr=True).status(styled(step, "")) as status:
        yield lambda step: status.update(styled(step, ""))


def progress(*columns: ProgressColumn) -> Progress:
    """Return what shows on a terminal how far each task is, and in a pipe nothing."""
    return Progress(*columns, console=Terminal(stderr=True), disable=not sys.stderr.isatty())


@contextmanager
def counting(what: str) -> Iterator[Callable[[str, int], None]]:
    """Show on a terminal where a count of `what` has come to; yield what tells the place and it."""
    counted = field("{task.fields[done]:,} " + what)
    columns = (SpinnerColumn(), field("{task.description}"), counted, TimeElapsedColumn())
    with progress(*columns) as bar:
        task = bar.add_task("", total=None, done=0)
        yield lambda place, done: bar.update(task, description=place, done=done)


def field(form: str) -> TextColumn:
    """Return a column of what `form` makes of a ``task``."""
    return TextColumn(form, markup=False)
