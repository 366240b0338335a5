"""Who has the printed role alone observes all of a hub, and what is refused is told once, with what grants it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml
from click.testing import CliRunner, Result

from fleet_components.cli.command import fleet
from fleet_components.hub.listing import Listing
from fleet_components.systems.registry import SYSTEMS
from tests.hub.karmada.api import Api as ControlPlane
from tests.hub.karmada.test_reading import secretive
from tests.hub.kubefleet.hubs import hub_of
from tests.hub.kubefleet.test_properties import with_secret
from tests.live.api_server import Api, api_server
from tests.live.hubs import allows, holds

Objects = list[Mapping[str, Any]]
WAYS = ((), ("--secrets",), ("--no-secrets",))


@attrs.frozen
class Hub:
    """A hub with a Secret that a policy selects, and a user who may do what a role says."""

    api: Api
    listing: Listing

    def run(self, *args: object) -> Result:
        return CliRunner().invoke(
            fleet, ["observe", "--hub", "hub", *map(str, args)], env={"COLUMNS": "200"}
        )

    def role(self, *args: str) -> Any:
        return yaml.safe_load(self.run("--rbac", *args).stdout)

    def grant(self, role: Any) -> None:
        self.api.answers.clear()
        allows(self.api, self.listing, role)


@pytest.fixture(params=SYSTEMS)
def hub(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.chdir(tmp_path)
    if request.param == "kubefleet":
        objects: Objects = list(with_secret())
        listing = hub_of(*objects)
    else:
        objects = list(secretive())
        listing = ControlPlane(tuple(objects)).listing()
    with api_server() as api:
        holds(api, listing, objects)
        Path("hub").write_text(api.kubeconfig())
        yield Hub(api, listing)


def without(role: Any, plural: str) -> Any:
    rules = [
        {**item, "resources": [name for name in item["resources"] if name != plural]}
        for item in role["rules"]
    ]
    return {**role, "rules": rules}


@pytest.mark.samples(2)
@pytest.mark.parametrize("options", WAYS, ids=lambda options: "".join(options) or "default")
def test_the_printed_role_is_enough_for_a_complete_observation(
    hub: Hub, options: tuple[str, ...]
) -> None:
    role = hub.role(*options)
    assert ("secrets" in str(role)) == ("--no-secrets" not in options)
    hub.grant(role)
    done = hub.run("--out", "out", "--strict", *options)
    assert (done.exit_code, done.stderr) == (0, ""), done.output
    assert "!" not in done.stdout
    assert (
        "note: Secret in namespace" in done.stdout or "note: Secret is not asked" in done.stdout
    ) == ("--no-secrets" in options)


def test_secrets_that_are_not_to_be_asked_for_are_not(hub: Hub) -> None:
    hub.run("--out", "out", "--no-secrets")
    assert not [path for _, path in hub.api.asked if "/secrets" in path]


def test_the_role_of_a_user_who_may_do_less_grows_until_it_is_whole(hub: Hub) -> None:
    whole = hub.role()
    hub.grant({"rules": []})
    for _ in range(4):
        role = hub.role()
        hub.grant(role)
    assert role == whole
    hub.grant({"rules": []})
    assert "apply this role, and then print and apply it once more" in " ".join(
        hub.run("--rbac").stdout.replace("\n# ", " ").split()
    )


def test_what_is_refused_is_told_once_with_what_grants_it(hub: Hub) -> None:
    hub.grant(without(hub.role(), "secrets"))
    done = hub.run("--out", "out")
    assert done.exit_code == 0
    assert done.stdout.count("forbidden") == 1
    assert "! Secret" in done.stdout
    assert "\n  fleet observe --rbac --hub hub | kubectl apply -f -\n" in done.stdout
    found = json.loads(hub.run("--out", "out", "--update", "-o", "json").stdout)
    assert found["grant"] == "fleet observe --rbac --hub hub | kubectl apply -f -"
    assert len(found["refused"]) == 1
    assert not [note for note in found["notes"] if "forbidden" in note]
    strict = hub.run("--out", "other", "--strict")
    assert strict.exit_code == 3
    assert not Path("other").exists()


def test_what_the_hint_says_works(hub: Hub) -> None:
    hub.grant(without(hub.role(), "secrets"))
    hub.grant(hub.role())
    assert hub.run("--out", "out", "--strict").exit_code == 0
