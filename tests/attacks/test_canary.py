"""What is secret is in no output of any command, however it is written, and whatever is wrong beside it."""

from __future__ import annotations

import json
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_components import Fleet
from fleet_components.cli.command import fleet
from fleet_components.content.revision import decompress
from fleet_components.testing import redact, run_program
from tests.attacks.planted import CANARY, CHANGES, HIDDEN, HOLDERS, KUBECONFIGS, SPELLINGS, SYSTEMS
from tests.cli.fleets import PROJECT, asking, export, write
from tests.fuzz.mutations import paths
from tests.plan import test_damage as states

pytestmark = pytest.mark.long

FORMS = [
    ("plan", "--diff"),
    ("plan", "-o", "json"),
    ("plan", "-o", "yaml"),
    ("plan", "-o", "markdown", "--diff"),
    ("explain",),
    ("explain", "-o", "json"),
]
forms, changes = st.sampled_from(FORMS), st.sampled_from(sorted(CHANGES))
planted = st.builds(
    lambda holder, spelling: HOLDERS[holder](SPELLINGS[spelling]),
    st.sampled_from(sorted(HOLDERS)),
    st.sampled_from(sorted(SPELLINGS)),
)
systems = st.sampled_from(sorted(SYSTEMS)).map(SYSTEMS.__getitem__)


def said(*words: str) -> str:
    """All that a command says, with the traceback if it ends in one."""
    done = CliRunner().invoke(fleet, asking(list(words)))
    ended = done.exception and not isinstance(done.exception, SystemExit)
    return done.output + (
        "".join(traceback.format_exception(*done.exc_info)) if ended and done.exc_info else ""
    )


def written(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        yield path.name
        if path.is_file():
            yield path.read_text()
        if path.name == "state.json":
            yield from unpacked(json.loads(path.read_text()))


def unpacked(state: Any) -> Iterator[str]:
    """What a state keeps in compressed form, which hides nothing from who unpacks it."""
    for item in state["resources"].values():
        yield from (str(decompress(text)) for text in item["outputs"].get("contents", {}).values())


def check(*texts: str) -> None:
    for text in texts:
        assert not [value for value in HIDDEN if value in text], text
        assert "Traceback" not in text, text


@settings(max_examples=settings().max_examples // 3)
@given(planted, systems, changes, forms)
def test_of_a_directory(
    text: str, system: dict[str, str], change: str, form: tuple[str, ...]
) -> None:
    """Nothing is in a plan, in the files of a render, and in what follows a change of what is secret."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        write(Path("fleet"), {**system, "planted.yaml": text})
        check(said(*form, "fleet"), said("render", "fleet", "--out", "out"), *written(Path("out")))
        Path("fleet/planted.yaml").write_text(CHANGES[change](text))
        state = ["--state", "out/local/state.json"] if Path("out/local/state.json").exists() else []
        check(
            said(*form, "fleet", *state),
            said("render", "fleet", "--out", "out"),
            *written(Path("out")),
        )


@settings(max_examples=settings().max_examples // 10)
@given(planted, systems, changes, forms, st.booleans())
def test_of_a_stack(
    text: str, system: dict[str, str], change: str, form: tuple[str, ...], encrypted: bool
) -> None:
    """Nothing is in the plain part of a state, and in a plan that starts from one, with its secrets or without."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        write(Path("."), {name: data for name, data in PROJECT.items() if "/fleet/" not in name})
        folder = Path("stacks/fleet")
        write(folder, {**system, "planted.yaml": text})
        config = {"fleet:source": str(folder.resolve()), "fleet:render": "rendered"}
        done = run_program(
            lambda: Fleet.from_config("dev"),
            project="web",
            stack="dev",
            config=config,
            preview=False,
        )
        check(str(done.error), str(done.messages), str(done.outputs))
        check(
            json.dumps(
                [redact(registration.inputs) for registration in done.registrations], default=str
            )
        )
        if done.error is None:
            Path("state.json").write_text(json.dumps(export(done, encrypted=encrypted)))
            (folder / "planted.yaml").write_text(CHANGES[change](text))
            for where in (".", "stacks/fleet"):
                check(said(*form, where, "--state", "state.json", "--any-state"))


@settings(max_examples=settings().max_examples // 6)
@given(st.sampled_from(sorted(KUBECONFIGS)).map(KUBECONFIGS.__getitem__), forms, st.booleans())
def test_of_a_kubeconfig(given: Any, form: tuple[str, ...], alone: bool) -> None:
    """Nothing is in a plan of a project, in its messages, and in the plain part of its state."""
    value = given if alone else {"amsterdam": given, "dublin": given}
    with tempfile.TemporaryDirectory() as place, chdir(place):
        config = {"fleet:source": "fleet", "fleet:kubeconfigs": value}
        write(Path("."), {**PROJECT, "stacks/Pulumi.dev.yaml": yaml.safe_dump({"config": config})})
        check(said(*form, "."))
        heard = {
            "fleet:source": "stacks/fleet",
            "fleet:kubeconfigs": value if isinstance(value, str) else json.dumps(value),
        }
        secret_keys = ["fleet:kubeconfigs"]
        done = run_program(
            lambda: Fleet.from_config("dev"), config=heard, secret_keys=secret_keys, preview=False
        )
        check(str(done.error), str(done.messages), str(done.outputs))
        check(
            json.dumps(
                [redact(registration.inputs) for registration in done.registrations], default=str
            )
        )


@settings(max_examples=settings().max_examples // 3)
@given(st.data())
def test_of_a_damaged_state(data: st.DataObject) -> None:
    """An error names the resource, the field and the type, and shows no value; policies and names are no secret."""
    whole = data.draw(st.sampled_from([states.export(), states.render()]))
    fields = [
        path
        for path in paths(whole)
        if "held" not in path and path[-1] not in ("fleet", "urn", "key")
    ]
    junk = data.draw(
        st.sampled_from(
            [CANARY, [CANARY], {"x": CANARY}, f"{CANARY}|b", f"2026-{CANARY}", f"a/{CANARY}"]
        )
    )
    state = states.damaged(whole, data.draw(st.sampled_from(fields)), junk)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "s.json")
        file.write_text(json.dumps(state))
        done = CliRunner().invoke(fleet, ["plan", str(states.folder()), "--state", str(file)])
        check(done.stderr if done.exit_code == 1 else "")
        assert done.exit_code in (0, 1, 3), done.exc_info
