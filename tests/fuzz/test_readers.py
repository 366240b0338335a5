"""No text breaks a reader: it gives a value, or one of its own errors, which says what is wrong and in which file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components.model.problem import FleetError
from tests.fuzz.readers import CORPUS, READERS, corpus

pytestmark = pytest.mark.long

FILES = sorted(CORPUS.glob("*/*"))
OF_PYTHON = re.compile(
    "Exceeds the limit|codec can't|object is not|has no attribute|subscriptable|unhashable|Errno"
)
"""Words of Python's own errors, which nobody outside of the code can make use of."""


def said(name: str, text: str) -> str:
    """What a reader says of a text; empty where it is read."""
    reader = READERS[name]
    try:
        reader.read(text)
    except reader.refuses as error:
        problems = error.problems if isinstance(error, FleetError) else ()
        unplaced = [
            problem
            for problem in problems
            if not (problem.what and (problem.file or problem.subject))
        ]
        return f"without a place: {unplaced}" if unplaced else str(error).encode().decode()
    return ""


def is_ours(text: str) -> bool:
    return not (text.startswith("without a place") or OF_PYTHON.search(text))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_is_kept_is_read_or_refused(file: Path) -> None:
    assert is_ours(said(file.parent.name, file.read_text()))


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_anything_is_read_or_refused(name: str, data: st.DataObject) -> None:
    assert is_ours(said(name, data.draw(READERS[name].hostile(corpus(name)))))


def test_what_is_good_is_read() -> None:
    good = [
        file
        for file in FILES
        if file.stem in ("good", "stages", "overriders", "declarations", "export")
    ]
    assert (
        {file.parent.name for file in good}
        == {folder.name for folder in CORPUS.iterdir()}
        == READERS.keys()
    )
    assert [said(file.parent.name, file.read_text()) for file in good] == [""] * len(good)


SAID = {
    "embedded-yaml/merge-of-a-number.yaml": "yaml: map merge requires map or sequence of maps as the value",
    "embedded-yaml/control-character.yaml": "is not YAML: control characters are not allowed",
    "embedded-json/half-a-pair.json": "invalid state detected",
    "kubeconfigs/home-of-nobody.txt": "the kubeconfig is neither a text nor the path of a file",
    "manifests/end-of-a-text.yaml": "in.yaml:2: not YAML: mapping values are not allowed in this context",
    "quantities/digits.txt": "unable to parse numeric part of quantity",
    "stacks/path-of-letters.yaml": 'Pulumi.yaml:3: main: there is no program at "xxxx',
    "states/half-a-pair.json": "in.json: is not JSON: it has half of a surrogate pair",
}


@pytest.mark.parametrize(("file", "what"), SAID.items(), ids=SAID)
def test_what_is_wrong_is_said(file: str, what: str) -> None:
    assert what in said(file.partition("/")[0], (CORPUS / file).read_text())
