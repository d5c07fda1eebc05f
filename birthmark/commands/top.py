"""``birthmark top``: the load of a server, live or over a whole trace."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from birthmark.commands.top_table import table
from birthmark.data.settings import Counting, Watching
from birthmark.exits import warn
from birthmark.groups import DefaultGroup
from birthmark.options import Options, with_options
from birthmark.terminal import Terminal, counting

if TYPE_CHECKING:  # help and the other commands do without them, and start sooner
    from birthmark.commands.top_screen import View
    from birthmark.data.top.load import LiveCounts
    from birthmark.data.top.watch import Watch

app = typer.Typer(
    cls=DefaultGroup,
    no_args_is_help=True,
    help="""Show the busiest users, clients, directories and files.

    `top TRACE...` is short for `top load TRACE...`.
    """,
)


@app.command("load")
@with_options
def top(
    traces: Annotated[
        list[str],
        typer.Argument(
            metavar="TRACE",
            help="traces, as for birthmark scan; live: -, a pipe, or a folder of growing captures",
        ),
    ],
    asked: Annotated[Watching, Options()],
    follow: Annotated[
        bool, typer.Option("--follow", help="follow TRACE, one growing file")
    ] = False,
    once: Annotated[
        bool, typer.Option("--once", help="print one picture; live: of the first whole window")
    ] = False,
    as_lines: Annotated[
        bool, typer.Option("--line", help="print one line; live: every --every seconds")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="print one JSON object; live: every --every seconds")
    ] = False,
) -> None:
    """Show a server's load, live or over whole traces.

    On a terminal the screen refreshes; the first letters of the words in its last line are
    keys. Elsewhere, print one picture of a trace, or a line of live traffic every second.
    """
    from birthmark.commands.top_page import title
    from birthmark.commands.top_screen import View, show

    if once + as_lines + as_json > 1:
        raise typer.BadParameter("expected one of --once, --line and --json")
    view = View(title(traces), asked, _users(asked.passwd))
    watch = _watched(traces, view, follow)
    if watch is None:
        _of_trace(traces, view, once, as_lines, as_json)
    elif once:
        _once(watch, view)
    elif as_lines or as_json or not _is_screen():
        _lines(watch, view, as_json)
    else:
        show(view, lambda: view.of_traffic(watch), watch)
    if watch is not None:
        watch.feed.close()


def of_trace(traces: Sequence[str], only: Counting) -> tuple[LiveCounts, dict[str, Any]]:
    """Count a whole trace; return its loss and generation marks, too, for a picture."""
    from birthmark.data.top.whole import read

    with counting("operations") as progress:
        try:
            load, found = read(traces, only, progress)
        except ValueError:
            _refuse_table(traces)
            raise
    warn(found.warnings)
    return load, {"lost": found.lost, "generated": found.generated}


def _refuse_table(traces: Sequence[str]) -> None:
    """Raise ValueError if one of the files is no trace, but a table of counts."""
    for path in filter(os.path.isfile, traces):
        if _is_table(path):
            raise ValueError(f"{path}: is a table of counts: try birthmark top table {path}")


def _is_table(path: str) -> bool:
    from birthmark.data.scan.inputs import CountsTable

    try:
        CountsTable(path)
    except ValueError:
        return False
    return True


def _of_trace(traces: Sequence[str], view: View, once: bool, as_lines: bool, as_json: bool) -> None:
    """Show a whole trace."""
    from birthmark.commands import top_lines
    from birthmark.commands.top_screen import show

    load, more = of_trace(traces, view.asked.counting())
    if as_lines or as_json:
        seen = load.whole(view.order, view.asked.count)
        if as_json:
            top_lines.write(top_lines.as_object(seen, view.users, **more))
        else:
            top_lines.begin(more["generated"])
            top_lines.write(top_lines.as_line(seen, view.users))
    elif once or not _is_screen():
        top_lines.print_picture(view.of_trace(load, **more), view.asked.count)
    else:
        show(view, lambda: view.of_trace(load, **more), None)


def _once(watch: Watch, view: View) -> None:
    """Print one picture, as soon as the window is full or the traffic has ended."""
    from birthmark.commands.top_lines import print_picture
    from birthmark.commands.top_screen import Signals, micros_of

    window = micros_of(view.window)
    with Signals().heard(on_screen=False) as signals:
        while not signals.end and not watch.feed.ended:
            _wait(watch)
            full = watch.until is not None and window is not None
            if full and watch.until - watch.begins >= window:  # type: ignore[operator]
                break
    print_picture(view.of_traffic(watch), view.asked.count)


def _lines(watch: Watch, view: View, as_json: bool) -> None:
    """Print a line or an object for each window until the traffic ends, without gaps."""
    from birthmark.commands import top_lines
    from birthmark.commands.top_screen import Signals
    from birthmark.data.common.durations import SECOND

    printed, since = 0, None
    step = round(max(view.asked.every, 1.0)) * SECOND
    with Signals().heard(on_screen=False) as signals:
        while not (signals.end or watch.feed.ended):
            _wait(watch)
            if watch.until is None:
                continue
            if since is None:
                since = watch.begins
                if not as_json:
                    top_lines.begin(watch.feed.generated)
            while watch.until - since >= step or (watch.feed.ended and watch.until > since):
                until = min(since + step, watch.until)
                seen = watch.between(since, until, view.order, view.asked.count if as_json else 1)
                printed += seen.total.ops
                lost, marks = watch.feed.lost, watch.feed.generated
                top_lines.write(
                    top_lines.as_object(seen, view.users, lost, marks)
                    if as_json
                    else top_lines.as_line(seen, view.users)
                )
                since = until
    watch.load.finish()
    late = watch.load.whole("ops", 1).total.ops - printed
    if late and watch.feed.ended:
        warn([f"{late:,} operations were known only after the line of their second"])


def _wait(watch: Watch) -> None:
    from birthmark.commands.top_screen import POLL

    watch.poll()
    if not watch.feed.ended:
        time.sleep(POLL)
        watch.poll()
    watch.go_on()
    watch.catch_up()


def _watched(traces: Sequence[str], view: View, follow: bool) -> Watch | None:
    """Return the watch of live traffic; None for traces that are read as a whole."""
    from birthmark.data.top.feeds import Played, Traffic
    from birthmark.data.top.load import LiveCounts
    from birthmark.data.top.watch import Watch

    live, pace = [each for each in traces if follow or _passes(each)], view.asked.pace
    if live and len(traces) > 1:
        raise typer.BadParameter(f"expected {live[0]} alone: it is followed live")
    if live and pace is not None:
        raise typer.BadParameter(f"--pace: expected a trace; {live[0]} is live")
    if not live and pace is None:
        return None
    load = LiveCounts(view.asked.counting(), reach=view.reach)
    if pace is not None:
        return Watch(load, Played(traces, load.columns, pace))
    return Watch(load, Traffic(traces[0]))


def _passes(trace: str) -> bool:
    """Return whether a trace is live: a pipe, or a folder that is no dataset."""
    from birthmark.data.datasets.ingests import records

    if trace == "-":
        return not stat.S_ISREG(os.fstat(0).st_mode)
    path = Path(trace)
    if path.is_dir():
        with suppress(FileNotFoundError):
            records(path)
            return False
        return True
    return path.exists() and not path.is_file()


def _users(passwd: Path | None) -> dict[int, str]:
    """Return the names of users in a file. Without one: none, as this host may have others."""
    from birthmark.data.top.users import names

    return {} if passwd is None else names(passwd)


def _is_screen() -> bool:
    return sys.stdout.isatty() and not Terminal().is_dumb_terminal


app.command()(table)
