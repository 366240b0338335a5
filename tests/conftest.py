"""The API servers of all tests, how properties are tried, and what a run of the whole suite says at its end."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.control_planes import Planes, control_planes

TESTS = Path(__file__).parent

# A busy machine is slow, and that is no fault of what is tested. The suite tries the same examples each time, so that
# it judges the change; make test-long tries more of them, and make fuzz looks for others.
settings.register_profile(
    "fleet",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("long", settings.get_profile("fleet"), max_examples=100)
settings.register_profile(
    "fuzz", settings.get_profile("fleet"), derandomize=False, max_examples=20_000
)
settings.load_profile(os.environ.get("FLEET_HYPOTHESIS_PROFILE", "fleet"))


@pytest.fixture(scope="session")
def api_servers() -> Iterator[Planes]:
    """Three members ``a``, ``b`` and ``c``, and a hub ``h``; each test has namespaces of its own."""
    with control_planes("abch") as started:
        yield started


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: a third of the time of the tests is waiting for answers that do not come."""
    return (os.cpu_count() or 1) * 3 // 2


def pytest_collection(session: pytest.Session) -> None:
    """In a run of everything, import a share of the tests first.

    Each worker imports all tests. On a fresh clone pytest rewrites their assertions, which takes
    three times as long as all else; so each worker rewrites some, and finds those of the others.
    """
    worker: dict[str, Any] = getattr(session.config, "workerinput", {})
    if worker and session.config.args == session.config.getini("testpaths"):
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        paths = sorted(TESTS.rglob("test_*.py"))
        for path in paths[number::count]:
            with suppress(Exception):  # said by the collection, which comes to it later
                import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test with ``samples(n)``, all but n are long; these lie evenly apart."""
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("samples"):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for alike in cases.values():
        (number,) = next(alike[0].iter_markers("samples")).args
        kept = {index * len(alike) // number for index in range(number)}
        for index, item in enumerate(alike):
            if index not in kept:
                item.add_marker(pytest.mark.long)


def pytest_collection_finish() -> None:
    """Collect garbage seldom: what is loaded and collected by now is many times what a test leaves behind."""
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why tests were skipped, a reason a line: a suite that passes says what it has not looked at."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"{number} skipped: {reason}")
