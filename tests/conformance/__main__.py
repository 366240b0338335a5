"""Compares our outcomes with those of vector files and recordings, exactly.

Usage: python -m tests.conformance FILE...

System and subject are the last two parts of a file's path, as in kubefleet/scheduling.json, a list of cases.
A file in kubefleet-live or karmada-live is one recording: it passes when all that differs is known.
An archive (.tar.xz) is a folder of such files, as those of tests/conformance/vectors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.conformance.subjects import RECORDINGS, SUBJECTS
from tests.vectors import Content, parsed, unpacked

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
    if file.suffix == ".xz":
        files = unpacked(file)
        counts = [check(path, _within(path, files)) for path in sorted(files)]
        return sum(ok for ok, _ in counts), sum(bad for _, bad in counts)
    return check(f"{file.absolute().parent.name}/{file.stem}", _beside(file))


def check(path: str, content: Content) -> tuple[int, int]:
    """Print each mismatch of a file of cases, or of a recording.

    Args:
        path: the folder, which is the system, and the name.
        content: gives the content of the file and of those beside it, by name.
    """
    folder, _, name = path.partition("/")
    try:
        found = content(name)
    except (OSError, ValueError) as error:
        print(f"{path}: cannot be read: {error}")
        return 0, 1
    if folder in RECORDINGS:
        return check_recording(path, content) if "steps" in found else _without_steps(path)
    if not found:
        print(f"{path}: holds no cases")
        return 0, 1
    subject = path.removesuffix("-more")
    run = SUBJECTS.get(subject)
    if run is None:
        print(f"{path}: the subject {subject} is not built")
        return 0, len(found)
    mismatches = [mismatch for case in found if (mismatch := check_case(case, run))]
    for mismatch in mismatches:
        print(f"{path}: {mismatch}")
    return len(found) - len(mismatches), len(mismatches)


def check_recording(path: str, content: Content) -> tuple[int, int]:
    """Print what differs first from one recording and is not known."""
    folder, _, name = path.partition("/")

    def replayed(_: Case) -> Iterator[tuple[str, str]]:
        replay = RECORDINGS[folder](name, content)
        return (("", f"step {item.step.number}: {item.words}") for item in replay.unexplained())

    mismatch = check_case({"name": name}, replayed)
    if mismatch:
        print(f"{folder}: {mismatch}")
    return (0, 1) if mismatch else (1, 0)


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
            yield from differences(
                expected.get(key, ABSENT), found.get(key, ABSENT), f"{path}.{key}"
            )
    elif isinstance(expected, list) and isinstance(found, list):
        for index, (left, right) in enumerate(zip_longest(expected, found, fillvalue=ABSENT)):
            yield from differences(left, right, f"{path}[{index}]")
    elif expected != found:
        yield f"{path}: expected {json.dumps(expected)}, found {json.dumps(found)}"


def _without_steps(path: str) -> tuple[int, int]:
    """A file without steps is about all of its folder."""
    print(f"{path}: holds no steps")
    return 0, 0


def _beside(file: Path) -> Content:
    folder = file.absolute().parent
    return lambda name: parsed(f"{folder.name}/{name}", (folder / f"{name}.json").read_text())


def _within(path: str, files: Mapping[str, bytes]) -> Content:
    folder = path.partition("/")[0]
    return lambda name: parsed(f"{folder}/{name}", files[f"{folder}/{name}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
