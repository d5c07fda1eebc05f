"""``make quickstart``: from two bundled days of a real capture to answers over HTTP.

The result is one screen (``one_screen.py``). With ``--verbose``, each step is shown as a command,
with all its output.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rich.table import Table

from birthmark.commands.evaluate import evaluate, report
from birthmark.commands.ingest import ingest
from birthmark.commands.train import train
from birthmark.data.samples import DAYS
from birthmark.one_screen import show_screen
from birthmark.replayed import Replayed, picture, replay
from birthmark.serving.answers.evidence import STYLES, in_percent, in_words
from birthmark.terminal import line, show, styled, working
from birthmark.training.config import Settings, Testing

DIRECTORY = Path("quickstart")
SHOWN = ("size=zero", "0<size<=16k", "lifespan<=5", "lifespan<=30", "write-only")
NEW_FILES: list[dict[str, Any]] = [
    {"name": "inbox.lock", "mode": "0600", "uid": 1003, "gid": 100},
    {"name": "conftest.c", "mode": "0644", "uid": 1001, "gid": 100},
    {"name": "parser.o", "mode": "0644", "uid": 1001, "gid": 100},
    {"name": ".thesis.tex.swp", "mode": "0600", "uid": 1003, "gid": 100},
    {"name": "__init__.cpython-311.pyc", "mode": "0644", "uid": 1002, "gid": 100},
    {"name_percent": "caf%E9.txt", "mode": "0644", "uid": 1005, "gid": 100},
]
NEXT = """\
the report           {page}
the service's page   {birthmark} serve --registry {registry}
your own server      README.md, "Use it on your own server"
every step of this   the same with --verbose, or make quickstart VERBOSE=1"""


@dataclass(frozen=True)
class Steps:
    """Output of the steps: as commands with their output, or a line for each."""

    verbose: bool

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        """Print a step and its duration; hide its output, except progress."""
        if self.verbose:
            yield
            return
        begun = time.monotonic()
        with redirect_stdout(StringIO()):
            yield
        line(f"{time.monotonic() - begun:4.0f} s  {doing}", style="dim")

    @contextmanager
    def log(self) -> Iterator[Any]:
        """Yield the log of background programs; None is this program's."""
        if self.verbose:
            yield None
            return
        with (DIRECTORY / "log").open("ab") as log:
            yield log


def main() -> None:
    """Run every step; an error in one ends the run."""
    parser = argparse.ArgumentParser("python -m birthmark.quickstart", description=main.__doc__)
    parser.add_argument("--verbose", action="store_true", help="show commands and all their output")
    run(Steps(parser.parse_args().verbose))


def run(steps: Steps) -> None:
    """Learn from the first day, predict the second, and print the accuracy."""
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir()
    first, second = (DIRECTORY / sample.stem for sample in DAYS)
    registry, page = DIRECTORY / "registry", DIRECTORY / "report.html"
    with steps.step("reading two days of a real capture"):
        for sample, day in zip(DAYS, (first, second), strict=True):
            show_command(f"birthmark ingest {_shown(sample)} --out {day}")
            ingest([str(sample)], day)
    with steps.step("learning from the first"):
        show_command(f"birthmark train {first} --registry {registry} --no-test")
        train([first], str(registry), Settings(), Testing(test=False))
    with steps.step("writing a report on the second"):
        if steps.verbose:  # the report has it, too
            show_command(f"birthmark evaluate {second} --registry {registry}")
            evaluate(second, str(registry), Settings())
        show_command(f"birthmark evaluate report {second} --registry {registry} --out {page}")
        report(second, str(registry), page, Settings())
    if steps.verbose:
        show_command(f"birthmark serve --registry {registry} --port 0")
        ask(registry)
    with steps.step("asking about each file of the second as it is created"):
        replayed = follow(steps, registry, second, DAYS[1])
    line("")
    show_screen(first, replayed)
    own = _shown(Path(sys.executable).with_name("birthmark"))
    birthmark = own.name if own.is_absolute() else own
    for each in NEXT.format(page=page, birthmark=birthmark, registry=registry).splitlines():
        line(each)


def show_command(command: str) -> None:
    """Show the command that runs next."""
    line("")
    line(f"$ {command}", style="bold")


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def ask(registry: Path) -> None:
    """Start the service, ask it about new files over HTTP, print the answers, stop it."""
    with serving(None, "--registry", str(registry), "--port", "0") as url:
        print_answers(post(f"{url}/v1/predictions", NEW_FILES))
        explain(post(f"{url}/v1/explanations", NEW_FILES[0]))


@contextmanager
def serving(log: Any, *options: str) -> Iterator[str]:
    """Run the service, yield its URL, and stop it."""
    words = ["-m", "birthmark", "serve", *options]
    command = [sys.executable, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as server:
        try:
            assert server.stdout is not None
            ready = server.stdout.readline().strip()
            line(ready)
            yield ready.split()[-1]
        finally:
            server.terminate()


def follow(steps: Steps, registry: Path, day: Path, sample: Path) -> Replayed:
    """Replay part of a day through a follower, predict its files, and draw the accuracy."""
    live = DIRECTORY / "live"
    live.mkdir(mode=0o700)
    history = live / "history"
    words = ["follow", "-", str(DIRECTORY / "followed"), "--history", str(history)]
    words += ["--history-keys", "100000", "--registry", str(registry)]
    options = ["--registry", str(registry), "--port", "0"]
    options += ["--model", "forest", "--point", "accurate"]
    options += ["--history", str(history), "--history-lag", "1e9"]
    show_command(f"birthmark dump --from operations {_shown(sample)} | birthmark {' '.join(words)}")
    show_command(f"birthmark serve {' '.join(options)}")
    command = [sys.executable, "-m", "birthmark", *words]
    with (
        steps.log() as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=log
        ) as follower,
        serving(log, *options) as url,
    ):
        assert follower.stdin is not None
        with working("asking"):
            replayed = replay(day, sample, url, history, follower.stdin)
        follower.stdin.close()
    known = sum(score.known for score in replayed.scores.values())
    line(
        f"{known:,} answers, each before the follower knew of the file: accuracy without and"
        " with the history of earlier files. Errors: █ both, ░ only without history, ▓ only"
        " with it:"
    )
    show(picture(replayed), columns=110)
    return replayed


def post(url: str, files: Any) -> Any:
    """Print a request, send it, and return the answer."""
    some = f"[{json.dumps(files[0])}, …]" if isinstance(files, list) else json.dumps(files)
    show_command(f"curl --json '{some}' {url}")
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(files).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def print_answers(answer: dict[str, Any]) -> None:
    """Print some of the service's answers."""
    table = Table("new file", *SHOWN, title=f"answered by model {answer['model']}")
    for prediction in answer["predictions"]:
        name = prediction.get("name") or prediction.get("name_percent")
        likely = {key: in_percent(share) for key, share in prediction["probabilities"].items()}
        cells = ((prediction["answers"][key], likely[key]) for key in SHOWN)
        table.add_row(name, *(styled(f"{word}, {share}", STYLES[word]) for word, share in cells))
    show(table, columns=110)


def explain(answer: dict[str, Any]) -> None:
    """Print the evidence for one answer."""
    prediction = answer["prediction"]
    found = prediction["predicates"]["lifespan<=5"]
    why = f"{found['answer']}, {in_words(found)}"
    line(f"why lifespan<=5 of {prediction['name']}: {why}")


if __name__ == "__main__":
    main()
