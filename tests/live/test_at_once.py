"""Work in threads: all of it is done, errors come out, and an interruption waits for nobody."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from functools import partial

import pytest

from fleet_components.live.at_once import at_once

WAITS = """
import signal, time
from fleet_components.live.at_once import at_once
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
print("begun", flush=True)
for _ in at_once([lambda: time.sleep(600)] * 4, 2):
    pass
"""


@pytest.mark.parametrize(("number", "most"), [(0, 3), (1, 3), (3, 3), (20, 3)])
def test_all_is_done_by_so_many_threads(number: int, most: int) -> None:
    done: list[int] = []
    threads: set[int] = set()

    def work(item: int) -> None:
        threads.add(threading.get_ident())
        done.append(item)

    assert len(list(at_once([partial(work, item) for item in range(number)], most))) == number
    assert sorted(done) == list(range(number))
    assert len(threads) <= most


def test_an_error_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        list(at_once([lambda: 1 / 0], 2))


def test_who_interrupts_it_does_not_wait() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert b"KeyboardInterrupt" in said
