"""The prose check finds the words of the style page where people read them, and nowhere else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tools.prose import (
    ROOT,
    STYLE,
    Finding,
    check,
    findings,
    in_package,
    in_pages,
    main,
    prose_of,
    rules,
)

PAGE = """# Style

| avoid | not this table |

## Words to avoid

| avoid | write |
| --- | --- |
| `mend`, `is no more` | fix, no longer |
| `Who has` | If you have |

## Examples

| `other` | nothing |
"""
WORDS = rules(PAGE)


def found(text: str) -> list[tuple[int, str]]:
    return [(it.line, it.phrase) for it in findings(Path("a.md"), prose_of(text), WORDS)]


def test_the_rules_are_those_of_one_table() -> None:
    assert WORDS == {
        "mend": "fix, no longer",
        "is no more": "fix, no longer",
        "Who has": "If you have",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mend it,\nor mend that.", [(1, "mend"), (2, "mend")]),
        ("It is\n  no more.", [(1, "is no more")]),
        ("Amend it, and recommend that.", []),
        ("Who has one? The person who has one.", [(1, "Who has")]),
        ("Say `mend` and ``mend it``.", []),
        ("a\n```sh\nmend\n```\nmend\n", [(5, "mend")]),
        ("> they mend\n\nwe mend\n", [(3, "mend")]),
    ],
)
def test_words_count_outside_of_code_and_quotations(
    text: str, expected: list[tuple[int, str]]
) -> None:
    assert found(text) == expected


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in {
        str(STYLE): PAGE,
        "pyproject.toml": "[tool.prose]\nbaseline = 1\n",
        "README.md": "Fix it.\n",
        "docs/settings.md": "Generated: mend.\n",
        "fleet_components/a.py": '"""To mend things."""\nmend = {"mend": 1}\n',
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_texts_of_the_package_are_counted_against_the_baseline(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (main(checkout), capsys.readouterr().out) == (0, "")
    (checkout / "fleet_components/b.py").write_text('def f() -> str:\n    return f"mend {1}"\n')
    assert main(checkout) == 1
    said = capsys.readouterr().out
    assert 'fleet_components/b.py:2: avoid "mend" (fix, no longer)' in said
    assert said.endswith("docstrings and messages have 2 words to avoid, 1 are allowed\n")


def test_a_word_in_a_page_is_an_error_wherever_the_baseline_is(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "README.md").write_text("Fix it.\n\nOr mend it.\n")
    assert main(checkout) == 1
    assert capsys.readouterr().out == 'README.md:3: avoid "mend" (fix, no longer)\n'


def test_a_baseline_that_is_too_high_is_named() -> None:
    finding = Finding(Path("a.py"), 1, "mend", "fix")
    assert check([], [finding], 3) == (
        0,
        ["lower tool.prose.baseline in pyproject.toml from 3 to 1"],
    )


@pytest.mark.long
def test_the_tree_passes() -> None:
    words = rules((ROOT / STYLE).read_text())
    assert len(words) > 20
    assert [str(finding) for finding in in_pages(ROOT, words)] == []
    baseline = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["prose"]["baseline"]
    assert len(in_package(ROOT, words)) <= baseline


def test_the_page_has_ten_examples() -> None:
    rows = (ROOT / STYLE).read_text().partition("## Ten examples")[2].strip().splitlines()
    assert len([row for row in rows if row.startswith("| ")]) == 12
