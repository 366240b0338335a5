"""The API servers of all tests, how properties are tried, and what a run of the whole suite says at its end."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.control_planes import Planes, control_planes

# A busy machine is slow, and that is no fault of what is tested. The suite tries the same examples each time, so that
# it judges the change; make fuzz looks for others.
settings.register_profile(
    "fleet",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
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
