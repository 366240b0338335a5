"""What takes long is said on a terminal, and nothing of it stays; elsewhere, and of what is done at once, nothing."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_components.cli.progress import ProgressLine
from fleet_components.live.asked_objects import observe
from fleet_components.plan.source import gather
from tests.cli.fleets import MEMBERS, PLACEMENT, SHOP, write
from tests.cli.terminal import in_terminal, left_of
from tests.tools import StandIns, stand_ins


class Stream(io.TextIOWrapper):
    """A pipe that passes for a terminal: what is written is there to be read at once."""

    def isatty(self) -> bool:
        return True


class Terminal:
    """A terminal as standard error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._main, written = os.pipe()
        self.stream = Stream(os.fdopen(written, "wb"), encoding="utf-8", line_buffering=True)
        os.set_blocking(self._main, False)

    def watch(self) -> ProgressLine:
        """A progress; from now on the terminal is standard error, which pytest sets anew before every test."""
        self._monkeypatch.setattr(sys, "stderr", self.stream)
        return ProgressLine()

    def got(self) -> str:
        """What was printed since the last call; a turn of the timer is not waited for."""
        self.stream.flush()
        try:
            return re.sub(r"\(\d+ s\)", "(0 s)", os.read(self._main, 65536).decode())
        except BlockingIOError:
            return ""

    def close(self) -> None:
        self.stream.close()
        os.close(self._main)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Standard error is a terminal, and the timer goes off where a test says so."""
    found = Terminal(monkeypatch)
    monkeypatch.setattr("fleet_components.cli.progress.PATIENCE", 1000)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    yield found
    found.close()


def line(text: str) -> str:
    return f"\r\x1b[K\x1b[?7l{text} (0 s)\x1b[?7h"


def time_passes() -> None:
    signal.raise_signal(signal.SIGALRM)


def nothing_is_left(terminal: Terminal) -> bool:
    free = signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    return free and signal.getitimer(signal.ITIMER_REAL) == (0, 0) and sys.stderr is terminal.stream


def test_what_takes_long_is_said_and_goes_again(terminal: Terminal) -> None:
    watch = terminal.watch()
    with watch("reading fleet"):
        assert terminal.got() == ""
        time_passes()
        assert terminal.got() == line("reading fleet")
        time_passes()
        assert terminal.got() == ""  # nothing new
        with watch("building app\x1b[31m"):
            time_passes()
            assert terminal.got() == line("reading fleet: building app\\x1b[31m")
        time_passes()
        assert terminal.got() == line("reading fleet")
    assert terminal.got() == "\r\x1b[K"
    assert nothing_is_left(terminal)


def test_of_what_is_done_at_once_nothing_is_said(terminal: Terminal) -> None:
    threads = threading.active_count()
    with terminal.watch()("reading fleet"):
        assert threading.active_count() == threads
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 900
    assert terminal.got() == ""
    assert nothing_is_left(terminal)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_takes_it_away(terminal: Terminal, error: type[BaseException]) -> None:
    watch = terminal.watch()

    def failing() -> None:
        time_passes()
        raise error

    with pytest.raises(error), watch("planning"), watch("losing each in turn"):
        failing()
    assert terminal.got() == line("planning: losing each in turn") + "\r\x1b[K"
    assert nothing_is_left(terminal)
    with watch("planning"):
        time_passes()
    assert terminal.got() == line("planning") + "\r\x1b[K"


def test_what_a_program_prints_stands_alone(terminal: Terminal) -> None:
    with terminal.watch()("running the program of shop"):
        time_passes()
        print("hello", file=sys.stderr)
        assert terminal.got() == line("running the program of shop") + "\r\x1b[Khello\n"
        time_passes()
        assert terminal.got() == line("running the program of shop")
        print("half a ", end="", file=sys.stderr)
        time_passes()
        print("line", file=sys.stderr)
        assert terminal.got() == "\r\x1b[Khalf a line\n"
    assert terminal.got() == ""


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "true")])
def test_some_terminals_get_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with terminal.watch()("reading fleet"):
        assert nothing_is_left(terminal)
    assert terminal.got() == ""


def test_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    with ProgressLine()("reading fleet"):
        assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert heard.getvalue() == ""


def test_a_timer_of_somebody_else_is_left_alone(terminal: Terminal) -> None:
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        with terminal.watch()("reading fleet"):
            assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGALRM, before)
    assert terminal.got() == ""


class Heard:
    """A watch that remembers what it was told, with what that was a part of."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, doing: str) -> Heard:
        self.told.append(doing)
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_what_is_built_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins(tmp_path / "tools", monkeypatch).printing("kustomize", SHOP)
    folder = write(tmp_path / "fleet", {"members.yaml": MEMBERS, "app/kustomization.yaml": ""})
    heard = Heard()
    assert not gather(folder / "members.yaml", folder / "app", watch=heard).problems
    assert heard.told == [f"building {folder / 'app'}"]


def test_the_members_that_have_answered_are_counted() -> None:
    heard = Heard()
    broken = "{kind: Config, current-context: none}"
    answers = observe({"east": broken, "west": broken}, {}, timeout=0.1, watch=heard)
    assert sorted(answers) == ["east", "west"]
    assert heard.told == ["asking 2 members", "0 answered", "1 answered"]


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    """A fleet in the directory with a kustomization that takes long to build."""
    write(
        tmp_path / "fleet",
        {"members.yaml": MEMBERS, "placement.yaml": PLACEMENT, "app/kustomization.yaml": ""},
    )
    monkeypatch.chdir(tmp_path / "fleet")
    found = stand_ins(tmp_path / "tools", monkeypatch)
    (found.folder / "shop.yaml").write_text(SHOP)
    found.add("kustomize", f'/bin/sleep 2\n/bin/cat "{found.folder}/shop.yaml"')
    return found


SLOW = ("plan", "members.yaml", "placement.yaml", "app")
SAID = "reading members.yaml, placement.yaml, app: building app"


@pytest.mark.long
def test_a_terminal_sees_it_and_a_pipe_does_not(slow: StandIns) -> None:
    status, told, piped = in_terminal(*SLOW, both=False)
    assert (status, left_of(told)) == (0, "")
    assert SAID in told
    assert "storefront" in piped
    assert "\x1b" not in piped
    status, both, _ = in_terminal(*SLOW, env={"NO_COLOR": "1"})
    assert SAID in both
    assert "\x1b" not in left_of(both)


@pytest.mark.long
def test_ctrl_c_leaves_one_line(slow: StandIns) -> None:
    status, told, _ = in_terminal(*SLOW, interrupted_at=SAID)
    assert (status, left_of(told)) == (1, "error: interrupted\n")
