"""What is secret is in no output of any command, however it is written, and whatever is wrong beside it."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.cli.command import fleet
from tests.attacks.planted import CHANGES, HIDDEN, HOLDERS, SPELLINGS, SYSTEMS
from tests.cli.fleets import asking, write

FORMS = [
    ("plan", "--diff"),
    ("plan", "-o", "json"),
    ("plan", "-o", "yaml"),
    ("plan", "-o", "markdown", "--diff"),
    ("explain",),
    ("explain", "-o", "json"),
]


def said(*words: str) -> str:
    """All that a command says, with the traceback if it ends in one."""
    done = CliRunner().invoke(fleet, asking(list(words)))
    ended = done.exception and not isinstance(done.exception, SystemExit)
    return done.output + ("".join(traceback.format_exception(*done.exc_info)) if ended and done.exc_info else "")


def written(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        yield path.name
        if path.is_file():
            yield path.read_text()


def check(text: str, what: object) -> None:
    assert not [value for value in HIDDEN if value in text], (what, text)
    assert "Traceback" not in text, (what, text)


@given(
    st.sampled_from(sorted(HOLDERS)),
    st.sampled_from(sorted(SPELLINGS)),
    st.sampled_from(sorted(SYSTEMS)),
    st.sampled_from(sorted(CHANGES)),
    st.sampled_from(FORMS),
)
def test_a_directory(holder: str, spelling: str, system: str, change: str, form: tuple[str, ...]) -> None:
    """Of a plan, of the files of a render, and of the plan that follows a change of what is secret."""
    text = HOLDERS[holder](SPELLINGS[spelling])
    with tempfile.TemporaryDirectory() as place, chdir(place):
        write(Path("fleet"), {**SYSTEMS[system], "planted.yaml": text})
        check(said(*form, "fleet"), "first")
        check(said("render", "fleet", "--out", "out"), "render")
        for one in written(Path("out")):
            check(one, "file")
        Path("fleet/planted.yaml").write_text(CHANGES[change](text))
        state = ["--state", "out/local/state.json"] if Path("out/local/state.json").exists() else []
        check(said(*form, "fleet", *state), "second")
        check(said("render", "fleet", "--out", "out"), "render again")
        for one in written(Path("out")):
            check(one, "file again")
