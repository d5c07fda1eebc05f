"""Output for people: the only way to the terminal.

Names, paths and messages come from untrusted traces. This module prints plain text, without markup
or emoji, and escapes control characters. Output for programs (JSON, traces, tables) does not pass
through here: it is written byte for byte.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from birthmark.data.common.visible import visible, visible_lines


class Terminal(Console):
    """A console that escapes control characters and markup.

    A string is one line (line feeds are escaped); a `Text` may have several.
    """

    def __init__(self, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **how: Any) -> Text:
        """Return a string as text, escaped before its width is measured."""
        return super().render_str(visible(text), **how)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments, with control characters escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible_lines(segment.text))


Styled = Text
"""The type of styled text."""


def styled(text: str, style: str) -> Styled:
    """Return text in a style, for a cell of a table or a branch of a tree."""
    return Text(visible(text), style)


def stacked(lines: Iterable[Styled]) -> Styled:
    """Return lines below each other, cropped and not wrapped."""
    return Text("\n", no_wrap=True, overflow="crop").join(lines)


_WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}


def line(text: str, stderr: bool = False, style: str = "") -> None:
    """Print one line to standard output or error.

    A line wider than the terminal is wrapped between words.
    """
    terminal = Terminal(stderr)
    shown = visible(text)
    if terminal.is_terminal:
        shown = "\n".join(wrap(shown, terminal.width, **_WHOLE))
    terminal.print(Text(shown, style), soft_wrap=True)


def items(values: Iterable[str]) -> None:
    """Print a list, a line for each item."""
    for each in values:
        _behind("- ", each)


def fields(values: Mapping[str, Any]) -> None:
    """Print a line for each value that is not empty, after its label."""
    for label, value in values.items():
        text = ", ".join(value) if isinstance(value, list) else value
        if text not in (None, ""):
            _behind(f"{label:>12}  ", f"{text:,}" if isinstance(text, int) else f"{text}")


def _behind(label: str, text: str) -> None:
    """Print a label and a text; a terminal wraps the text below itself."""
    terminal = Terminal()
    if terminal.is_terminal:
        labelled = Table.grid(Column(no_wrap=True), *words(""))
        labelled.add_row(label, text)
        terminal.print(labelled)
    else:
        line(f"{label}{text}")


def shortened(path: str, room: int) -> str:
    """Return a path in at most `room` columns; of a longer one, both ends."""
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


def shortened_apart(paths: Sequence[str], room: int) -> list[str]:
    """Return paths shortened to `room` columns, so that different ones still differ."""
    found = {path: shortened(path, room) for path in paths}
    groups = [list(found)]
    while groups:
        alike: dict[str, list[str]] = {}
        for path in groups.pop():
            alike.setdefault(found[path], []).append(path)
        for same in alike.values():
            if len(same) > 1:
                found |= {path: _part(path, _differ_at(same, room), room) for path in same}
                if len({found[path] for path in same}) > 1:
                    groups.append(same)
    return [found[path] for path in paths]


def _differ_at(paths: Sequence[str], room: int) -> int:
    """Return the start of the part in which paths differ, or of its component if it is near."""
    columns = enumerate(zip(*paths, strict=False))
    same = next((at for at, column in columns if len(set(column)) > 1), min(map(len, paths)))
    return max(paths[0].rfind("/", 0, same) + 1, same - room // 4)


def _part(path: str, start: int, room: int) -> str:
    """Return a path from `start` on, cut to `room` columns."""
    text = ("…" if start else "") + path[start:]
    return text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


def numbers(*headings: str) -> list[Column]:
    """Return columns aligned to the right and never wrapped."""
    return [Column(heading, justify="right", no_wrap=True) for heading in headings]


def words(*headings: str) -> list[Column]:
    """Return columns whose text is wrapped if there is no room."""
    return [Column(heading, overflow="fold") for heading in headings]


def table(*columns: str | Column, title: str = "", caption: str = "") -> Table:
    """Return a table in the common style; a column given by its heading alone never wraps."""
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
    """Print paragraphs after their labels, no wider than the terminal."""
    labelled = grid("bold", "")
    for label, text in lines.items():
        labelled.add_row(label, text)
    show(labelled)


def grid(*styles: str) -> Table:
    """Return a table without headings, from its columns' styles; the last column is wrapped."""
    *whole, last = styles
    columns = [Column(style=style, no_wrap=True) for style in whole]
    return Table.grid(*columns, Column(style=last, overflow="fold"), padding=(0, 2, 0, 0))


LEAST = 16
"""Least width of wrapped text, in columns."""


def show(shown: RenderableType, columns: int = 0) -> None:
    """Print a table or a tree on standard output, as wide as the terminal, 80 columns in a pipe.

    It has at least `columns`, and enough to show everything: lines wrap on a narrower terminal.
    """
    terminal = Terminal()
    least = _least(terminal, shown) if isinstance(shown, Table) else 0
    terminal.width = max(columns, least, terminal.width)
    terminal.print(shown)


def _least(terminal: Terminal, shown: Table) -> int:
    """Return the least width at which a table shows everything."""
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
    """Show the current step on a terminal only; yield the function that sets it."""
    with Terminal(stderr=True).status(styled(step, "")) as status:
        yield lambda step: status.update(styled(step, ""))


def progress(*columns: ProgressColumn) -> Progress:
    """Return a progress display, which is hidden in a pipe."""
    return Progress(*columns, console=Terminal(stderr=True), disable=not sys.stderr.isatty())


@contextmanager
def counting(what: str) -> Iterator[Callable[[str, int], None]]:
    """Show a count of `what` on a terminal; yield the function that updates place and count."""
    counted = field("{task.fields[done]:,} " + what)
    columns = (SpinnerColumn(), field("{task.description}"), counted, TimeElapsedColumn())
    with progress(*columns) as bar:
        task = bar.add_task("", total=None, done=0)
        yield lambda place, done: bar.update(task, description=place, done=done)


def field(form: str) -> TextColumn:
    """Return a column that formats a ``task`` by `form`."""
    return TextColumn(form, markup=False)
