"""Compares our outcomes with those of vector files and recordings, exactly.

Usage: python -m tests.conformance FILE...

System and subject are the last two parts of a file's path, as in kubefleet/scheduling.json, a list of cases.
A file in kubefleet-live or karmada-live is one recording: it passes when all that differs is known.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.conformance.subjects import RECORDINGS, SUBJECTS

Case = Mapping[str, Any]
Run = Callable[[Case], Iterable[tuple[Any, Any]]]
ABSENT = "<absent>"


def main(files: list[str]) -> int:
    """Run every file; the exit status."""
    if not files:
        print(__doc__)
        return 2
    passed = failed = 0
    for file in files:
        ok, bad = check_file(Path(file))
        passed, failed = passed + ok, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def check_file(file: Path) -> tuple[int, int]:
    """Print each mismatch of one file; how many cases passed and failed."""
    system = file.absolute().parent.name
    subject = f"{system}/{file.stem}"
    try:
        cases = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        print(f"{file}: cannot be read: {error}")
        return 0, 1
    if system in RECORDINGS:
        return check_recording(file, cases)
    if not cases:
        print(f"{file}: holds no cases")
        return 0, 1
    run = SUBJECTS.get(subject)
    if run is None:
        print(f"{file}: the subject {subject} is not built")
        return 0, len(cases)
    mismatches = [mismatch for case in cases if (mismatch := check_case(case, run))]
    for mismatch in mismatches:
        print(f"{subject}: {mismatch}")
    return len(cases) - len(mismatches), len(mismatches)


def check_recording(file: Path, data: Any) -> tuple[int, int]:
    """Print what differs from one recording and is not known; a file without steps is about all of its folder."""
    if "steps" not in data:
        print(f"{file}: holds no steps")
        return 0, 0
    mismatch = check_case({"name": file.stem, "file": file}, replayed)
    if mismatch:
        print(f"{file.absolute().parent.name}: {mismatch}")
    return (0, 1) if mismatch else (1, 0)


def replayed(case: Case) -> Iterator[tuple[Any, Any]]:
    """Nothing is expected to differ."""
    system = case["file"].absolute().parent.name
    for one in RECORDINGS[system].of(case["file"]).unexplained():
        yield "", f"step {one.step.number}: {one.words}"


def check_case(case: Case, run: Run) -> str:
    """The name of the case and the first differing field; empty when it matches."""
    name = case.get("name", "a case without a name")
    try:
        for step, (expected, found) in enumerate(run(case)):
            for difference in differences(expected, found, f"outcome[{step}]"):
                return f"{name}: {difference}"
    except Exception as error:  # noqa: BLE001 - a crash is a failed case, not the end of the run
        return f"{name}: {type(error).__name__}: {error}"
    return ""


def differences(expected: Any, found: Any, path: str) -> Iterator[str]:
    """Each place where two values differ, with both."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys(), key=str):
            yield from differences(expected.get(key, ABSENT), found.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        for index, (left, right) in enumerate(zip_longest(expected, found, fillvalue=ABSENT)):
            yield from differences(left, right, f"{path}[{index}]")
    elif expected != found:
        yield f"{path}: expected {json.dumps(expected)}, found {json.dumps(found)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
