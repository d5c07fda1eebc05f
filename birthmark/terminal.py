"""What commands print for people: the only way to their terminal.

Names, paths and messages come from whoever wrote a trace. What is printed here is plain text,
neither markup nor emoji, and what a terminal would obey in it is escaped. What programs read (JSON,
traces, tables) does not come here: it is written byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Column, Table
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


_WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}


def line(text: str, stderr: bool = False, style: str = "") -> None:
    """Print one line to standard output or error.

    A terminal shows what is wider than it in several lines, and breaks no word.
    """
    terminal = Terminal(stderr)
    shown = visible(text)
    if terminal.is_terminal:
        shown = "\n".join(wrap(shown, terminal.width, **_WHOLE))
    terminal.print(Text(shown, style), soft_wrap=True)


def items(told: Iterable[str]) -> None:
    """Print a list, a line for each item."""
    for each in told:
        _behind("- ", each)


def fields(told: Mapping[str, Any]) -> None:
    """Print a line for each value that there is, behind its label."""
    for label, value in told.items():
        text = ", ".join(value) if isinstance(value, list) else value
        if text not in (None, ""):
            _behind(f"{label:>12}  ", f"{text:,}" if isinstance(text, int) else f"{text}")


def _behind(label: str, text: str) -> None:
    """Print one line, of which a terminal shows all but the label below each other."""
    terminal = Terminal()
    if terminal.is_terminal:
        grid = Table.grid(Column(no_wrap=True), *words(""))
        grid.add_row(label, text)
        terminal.print(grid)
    else:
        line(f"{label}{text}")


def shortened(path: str, room: int) -> str:
    """Return a path that takes at most so many columns: of a longer one, both ends."""
    if cell_len(path) <= room:
        return path
    head, tail = "", path
    for each in path:
        if cell_len(head + each) > room // 3:
            break
        head += each
    while tail and cell_len(head) + cell_len(tail) > room - 1:
        tail = tail[1:]
    return f"{head}…{tail}"


def numbers(*headings: str) -> list[Column]:
    """Return columns of a table that stand to the right, as numbers do, and are never wrapped."""
    return [Column(heading, justify="right", no_wrap=True) for heading in headings]


def words(*headings: str) -> list[Column]:
    """Return columns of a table whose text is wrapped where there is no room for all of it."""
    return [Column(heading, overflow="fold") for heading in headings]


def table(*columns: str | Column, title: str = "", caption: str = "") -> Table:
    """Return a table as all are drawn; a column of which only the heading is told never wraps."""
    whole = [Column(each, no_wrap=True) if isinstance(each, str) else each for each in columns]
    left: dict[str, Any] = {"title_justify": "left", "caption_justify": "left"}
    return Table(
        *whole,
        title=title or None,
        caption=caption or None,
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        **left,
    )


def paragraphs(lines: Mapping[str, str]) -> None:
    """Print paragraphs, each behind its label, no wider than the terminal."""
    grid = Table.grid(Column(no_wrap=True, style="bold"), *words(""), padding=(0, 2, 0, 0))
    for label, text in lines.items():
        grid.add_row(label, text)
    show(grid)


LEAST = 16
"""The columns that text which may be wrapped is given at least."""


def show(shown: RenderableType, columns: int = 0) -> None:
    """Print a table or a tree on standard output, as wide as the terminal, 80 columns in a pipe.

    It has at least so many `columns`, and what it takes to lose nothing: on a terminal narrower
    than that, its lines wrap.
    """
    terminal = Terminal()
    least = _least(terminal, shown) if isinstance(shown, Table) else 0
    terminal.width = max(columns, least, terminal.width)
    terminal.print(shown)


def _least(terminal: Terminal, shown: Table) -> int:
    """Return the width below which a table would lose something."""
    unlimited = terminal.options.update(width=sys.maxsize)
    spare = 0
    for column in shown.columns:
        if not column.no_wrap and column.width is None:
            column.overflow = "fold"
            cells = (column.header, *column.cells)
            widest = max(terminal.measure(each, options=unlimited).maximum for each in cells)
            spare += max(0, widest - LEAST)
    return terminal.measure(shown, options=unlimited).maximum - spare


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
