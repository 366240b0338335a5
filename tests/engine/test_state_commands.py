"""Commands that edit a state: the next update does what its preview shows, and no object is lost."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.delivery.driver import kubeconfigs
from tests.engine.checked import checked, planned
from tests.engine.driver import Engine
from tests.engine.stories import Story, Uids, carried_out, config_map, refused, shop_of, unchanged
from tests.engine.test_state_rename import urn_of

pytestmark = pytest.mark.engine
FORGOTTEN = {
    "records": (
        ("fleet:Binding", "dev/shop@a"),
        ("fleet:Placement", "dev/shop"),
        ("fleet:Roster", "dev"),
    ),
    "members": (
        ("fleet:Member", "dev/a"),
        ("providers:kubernetes", "dev/a"),
        ("index:Placement", "dev/shop"),
    ),
}


def stands(story: Engine[Story]) -> Uids:
    """What a fleet has brought to each of two API servers, by its uid."""
    tale = story.world
    objects = (("configmap", "c"), ("deployment", "web"), ("namespace", tale.space))
    found = tale.uids(*objects)
    assert None not in found.values()
    return found


def brought(story: Engine[Story]) -> Uids:
    """A first update; returns what stands then."""
    shop_of(story.world)
    done = story.up()
    assert done.ok, done.text
    return stands(story)


def ran(story: Engine[Story], *command: str) -> None:
    """A command that succeeds."""
    code, text = story.command(*command, "--yes")
    assert code == 0, text


def removed(story: Engine[Story], kind: str, name: str) -> None:
    """The state forgets a resource with all that depends on it, of which the roster is protected."""
    remove = ("state", "remove", urn_of(story, kind, name))
    code, text = story.command(*remove, "--yes", "--target-dependents")
    assert code != 0
    assert "because it is protected" in text
    ran(story, *remove, "--target-dependents", "--force")


def object_urn(story: Engine[Story], plane: str) -> str:
    return urn_of(story, ":ConfigMap", f"dev/shop@{plane}/{story.world.space}/c")


@pytest.mark.parametrize("kinds", FORGOTTEN)
def test_what_the_state_forgets_is_found_again(story: Engine[Story], kinds: str) -> None:
    """Nothing is made anew and nothing is deleted; plan, preview and update agree."""
    before = brought(story)
    for kind, name in FORGOTTEN[kinds]:
        removed(story, kind, name)
        plan = planned(story)
        assert (plan["gone"]["objects"], plan["replaced"], plan["refused"]) == ([], [], [])
        seen = carried_out(story)
        assert set(seen.changes.values()) == {"create"}
        assert stands(story) == before, kind


def test_an_object_that_the_state_forgets(story: Engine[Story]) -> None:
    """It is written again; once it has left the source, it goes as long as its placement is in the state."""
    before = brought(story)
    name = f"dev/shop@a/{story.world.space}/c"
    code, text = story.command("state", "remove", object_urn(story, "a"), "--yes", "--force")
    assert code != 0
    assert "resources depend on it" in text
    removed(story, ":ConfigMap", name)
    checked(story)
    assert stands(story) == before
    removed(story, ":Namespace", f"dev/shop@a/{story.world.space}")
    del story.world.objects["c"]
    step = checked(story)
    # The placement is still in the state: what it had sent counts as left by an update that broke.
    assert {item["member"]: item["fate"] for item in step.plan["gone"]["objects"]} == {
        "a": "undone",
        "b": "deleted",
    }
    assert set(story.world.uids(("configmap", "c")).values()) == {None}
    removed(story, "fleet:Placement", "dev/shop")
    del story.world.objects["web"]
    assert checked(story).plan["gone"]["objects"] == []
    assert None not in story.world.uids(("deployment", "web")).values()


def test_protection_in_the_state(story: Engine[Story]) -> None:
    """What is protected by hand stops its deletion; an update sets the protection of the fleet again."""
    before = brought(story)
    protected = [object_urn(story, plane) for plane in "ab"]
    ran(story, "state", "protect", *protected)
    unchanged(story)
    del story.world.objects["c"]
    refused(story, "protected", "pulumi state unprotect")
    assert stands(story) == before
    ran(story, "state", "unprotect", *protected)
    checked(story)
    assert set(story.world.uids(("configmap", "c")).values()) == {None}
    ran(story, "state", "unprotect", "--all")
    unchanged(story)
    assert story.up().ok
    # The fleet sets its own protection again.
    code, text = story.command("destroy", "--yes", "--skip-preview")
    assert code != 0, text
    assert "protected" in text
    assert None not in story.world.uids(("deployment", "web")).values()


def test_a_sound_state_stays_as_it_is(story: Engine[Story]) -> None:
    """Repaired, upgraded, tainted and untainted."""
    before = brought(story)
    state = json.loads(story.export())["resources"]
    ran(story, "state", "repair")
    code, text = story.pulumi("state", "upgrade", "--yes")
    assert code == 0, text
    assert json.loads(story.export())["resources"] == state
    for urn in (object_urn(story, "a"), urn_of(story, "fleet:Roster", "dev")):
        ran(story, "state", "taint", urn)
        ran(story, "state", "untaint", urn)
    unchanged(story)
    ran(story, "state", "taint", urn_of(story, "fleet:Roster", "dev"))
    refused(story, "marked for protection")
    ran(story, "state", "untaint", urn_of(story, "fleet:Roster", "dev"))
    carried_out(story)
    assert stands(story) == before


def test_an_older_export_is_imported(story: Engine[Story]) -> None:
    """The update sends what has changed since, and forgets nothing that is in the source."""
    before, tale = brought(story), story.world
    older = story.stack.export_stack()
    tale.objects["c"] = config_map(tale.space, "two")
    tale.objects["d"] = config_map(tale.space, "two", name="d")
    assert story.up().ok
    came = tale.uids(("configmap", "d"))
    story.stack.import_stack(older)
    checked(story)
    assert stands(story) == before
    assert tale.uids(("configmap", "d")) == came
    assert [tale.live(plane, "configmap", "c")["data"] for plane in "ab"] == [{"k": "two"}] * 2
    del tale.objects["d"]
    checked(story)
    assert set(tale.uids(("configmap", "d")).values()) == {None}


def test_an_export_from_before_an_object_left(story: Engine[Story]) -> None:
    """What the state has and no member any more is deleted once more, which does nothing."""
    before, tale = brought(story), story.world
    tale.objects["d"] = config_map(tale.space, name="d")
    assert story.up().ok
    older = story.stack.export_stack()
    del tale.objects["d"]
    assert story.up().ok
    story.stack.import_stack(older)
    carried_out(story)
    assert stands(story) == before


def test_a_stack_that_is_removed_and_made_again(story: Engine[Story]) -> None:
    """Its objects stay, and the new stack of that name takes them up."""
    before = brought(story)
    code, text = story.command("stack", "rm", "--yes", "--preserve-config")
    assert code != 0
    assert "still has resources" in text
    ran(story, "stack", "rm", "--force", "--preserve-config")
    assert stands(story) == before
    code, text = story.pulumi("stack", "init", story.name)
    assert code == 0, text
    assert not story.state().resources
    seen = carried_out(story)
    assert set(seen.changes.values()) == {"create"}
    assert stands(story) == before
    del story.world.objects["c"]
    checked(story)
    assert set(story.world.uids(("configmap", "c")).values()) == {None}


def test_another_passphrase(engine: Engine) -> None:
    """Secrets of configuration and state are encrypted anew; the fleet goes on."""
    engine.world.config["kubeconfigs"] = kubeconfigs(engine.world.members)
    engine.encrypt_kubeconfigs()
    done = engine.up()
    assert done.ok, done.text
    code, text = engine.pulumi(
        *("stack", "change-secrets-provider", "passphrase", "--stack", engine.name),
        answers="another\nanother\n",
    )
    assert code == 0, text
    settings = yaml.safe_load((engine.project / f"Pulumi.{engine.name}.yaml").read_text())
    engine.secrets = {"fleet:kubeconfigs": settings["config"]["fleet:kubeconfigs"]}
    assert "incorrect passphrase" in engine.preview().text
    engine.environment["PULUMI_CONFIG_PASSPHRASE"] = "another"
    unchanged(engine)
    engine.world.image = "web:2"
    carried_out(engine)
    assert engine.images() == dict.fromkeys("abcd", "web:2")
