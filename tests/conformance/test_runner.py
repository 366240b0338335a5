"""The runner itself: what it prints, and with which status it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.__main__ import main
from tests.vectors import MEMBERS, vectors

CASES = [
    case
    for case in vectors("kubefleet/scheduling")
    if case["name"]
    in ("edge-pickn-zero", "edge-pickfixed-unknown", "edge-prop-not-a-quantity-errors")
]
ROOT = Path(__file__).parents[2]

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of cases for a subject."""

    def writing(cases: Any, subject: str = "kubefleet/scheduling") -> str:
        file = tmp_path / f"{subject}.json"
        file.parent.mkdir(exist_ok=True, parents=True)
        file.write_text(cases if isinstance(cases, str) else json.dumps(cases))
        return str(file)

    return writing


def changed(name: str, change: Callable[[Any], None]) -> list[Any]:
    """The cases with one of them changed."""
    cases = deepcopy(CASES)
    change(next(case for case in cases if case["name"] == name))
    return cases


def test_all_pass(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write(CASES)]) == 0
    assert capsys.readouterr().out == "3 passed, 0 failed\n"


def expect_other(case: Any) -> None:
    case["expected"][0]["clusterDecisions"][2]["reason"] = "other"
    case["expected"][0]["selected"] = []


def test_a_mismatch_names_case_and_first_field(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([write(changed("edge-pickfixed-unknown", expect_other))]) == 1
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith(
        "kubefleet/scheduling: edge-pickfixed-unknown: "
        'outcome[0].clusterDecisions[2].reason: expected "other", found "Specified cluster '
    )
    assert rest == ["2 passed, 1 failed"]


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (
            lambda expected: expected["bindings"].pop(),
            'outcome[0].bindings[1]: expected "<absent>", found {"cluster',
        ),
        (
            lambda expected: expected["selected"].append("x"),
            'outcome[0].selected[2]: expected "x", found "<absent>"',
        ),
        (
            lambda expected: expected.update(error="boom"),
            'outcome[0].error: expected "boom", found ""',
        ),
        (
            lambda expected: expected["snapshotCondition"].pop("reason"),
            "snapshotCondition.reason: expected",
        ),
        (
            lambda expected: expected.update(placementCondition=None),
            "outcome[0].placementCondition: expected null",
        ),
    ],
)
def test_every_compared_field_counts(
    change: Callable[[Any], Any], shown: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main([write(changed("edge-pickfixed-unknown", lambda case: change(case["expected"][0])))])
        == 1
    )
    assert shown in capsys.readouterr().out


def test_outcomes_must_be_as_many_as_steps(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([write(changed("edge-pickn-zero", lambda case: case["expected"].append({})))]) == 1
    assert "edge-pickn-zero: ValueError" in capsys.readouterr().out


def test_a_crash_fails_its_case_only(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([write([{"clusters": []}, *CASES])]) == 1
    assert capsys.readouterr().out.endswith(
        "a case without a name: KeyError: 'expected'\n3 passed, 1 failed\n"
    )


@pytest.mark.parametrize(
    ("content", "subject", "shown", "failed"),
    [
        ([], "kubefleet/scheduling", "holds no cases", 1),
        ("{not json", "kubefleet/scheduling", "cannot be read", 1),
        (
            [{"name": "a"}, {"name": "b"}],
            "kubefleet/weather",
            "the subject kubefleet/weather is not built",
            2,
        ),
        ([{"name": "a"}], "else/scheduling", "the subject else/scheduling is not built", 1),
    ],
)
def test_what_cannot_be_run_fails(
    content: Any,
    subject: str,
    shown: str,
    failed: int,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        main(
            [write(CASES), write(content, subject)]
            if subject != "kubefleet/scheduling"
            else [write(content)]
        )
        == 1
    )
    passed = 3 if subject != "kubefleet/scheduling" else 0
    out = capsys.readouterr().out
    assert shown in out
    assert out.endswith(f"{passed} passed, {failed} failed\n")


def test_a_recording_passes_while_all_that_differs_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "kubefleet-live"
    folder.mkdir()
    good, members = folder / "pickall-nothing-matches.json", folder / f"{MEMBERS}.json"
    for file in (good, members):
        file.write_text(json.dumps(vectors(f"kubefleet-live/{file.stem}")))
    assert main([str(good), str(members)]) == 0
    assert (
        capsys.readouterr().out == f"kubefleet-live/{MEMBERS}: holds no steps\n1 passed, 0 failed\n"
    )
    good.write_text(good.read_text().replace("found 0 cluster(s)", "found 5 cluster(s)"))
    assert main([str(good)]) == 1
    out = capsys.readouterr().out
    assert out.startswith("kubefleet-live: pickall-nothing-matches: ")
    assert "step 0: ClusterResourcePlacement pickall-not" in out
    assert out.endswith("0 passed, 1 failed\n")


def test_an_archive_is_a_folder_of_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "karmada.tar.xz"
    with tarfile.open(archive, "w:xz") as files:
        for name, content in {
            "eviction": vectors("karmada/eviction"),
            "weather": [{"name": "a"}],
        }.items():
            text = json.dumps(content).encode()
            entry = tarfile.TarInfo(f"karmada/{name}.json")
            entry.size = len(text)
            files.addfile(entry, io.BytesIO(text))
    assert main([str(archive)]) == 1
    assert capsys.readouterr().out == (
        "karmada/weather: the subject karmada/weather is not built\n"
        f"{len(vectors('karmada/eviction'))} passed, 1 failed\n"
    )


def test_a_missing_file_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "kubefleet" / "scheduling.json")]) == 1
    assert capsys.readouterr().out.endswith("0 passed, 1 failed\n")


def test_no_file_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Usage: python -m tests.conformance FILE..." in capsys.readouterr().out


@pytest.mark.long
def test_as_a_command(write: Write) -> None:
    def run(*files: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.conformance", *files]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    passing = run(write(CASES))
    assert (passing.returncode, passing.stdout, passing.stderr) == (0, "3 passed, 0 failed\n", "")
    failing = run(write(changed("edge-pickfixed-unknown", expect_other)))
    assert (failing.returncode, failing.stdout.splitlines()[-1]) == (1, "2 passed, 1 failed")
