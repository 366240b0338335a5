"""``fleet plan`` of a project against what ``pulumi stack export`` prints, of what really runs on API servers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.fleets import plan, run
from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, config_map, deployment, namespace, placement

pytestmark = pytest.mark.engine
OLD, NEW = "b25l", "dHdv"


def secret(space: str, name: str, **data: Any) -> Data:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": space},
        **data,
    }


@pytest.fixture
def shop(story: Engine[Story], monkeypatch: pytest.MonkeyPatch) -> Engine[Story]:
    """What the provider keeps in a form of its own: texts of Secrets, quantities, and fields that are empty."""
    tale = story.world
    web = deployment(tale.space)
    container = web["spec"]["template"]["spec"]["containers"][0]
    container |= {
        "env": [{"name": "X", "value": ""}],
        "resources": {"requests": {"cpu": "0.5"}, "limits": {"cpu": 1}},
    }
    space = namespace(tale.space)
    tale.objects = {
        "space": space,
        "web": web,
        "c": {**config_map(tale.space), "binaryData": {}},
        "data": secret(tale.space, "data", data={"k": OLD}),
        "text": secret(tale.space, "text", stringData={"k": "one"}),
        "both": secret(tale.space, "both", data={"k": NEW, "j": OLD}, stringData={"k": "one"}),
        "shop": placement("shop", space),
    }
    assert (first := story.up()).ok, first.text
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", story.environment["PULUMI_CONFIG_PASSPHRASE"])
    return story


def planned(engine: Engine[Story], *options: str) -> dict[str, Any]:
    """The plan against an export of the stack as it is, from what is written now."""
    file = engine.folder / "export.json"
    code, text = engine.command("stack", "export", "--file", str(file), *options)
    assert code == 0, text
    engine._write()
    return plan(engine.project, "--stack", engine.name, "--state", file)


def changed(document: dict[str, Any]) -> dict[str, list[str]]:
    """Fields that change, by the names of resources."""
    found = [item for item in document["resources"] if item["change"] != "same"]
    return {item["name"]: [each["field"] for each in item["differences"]] for item in found}


def test_a_kubeconfig_that_changes(shop: Engine[Story]) -> None:
    """It shows where the state shows the old one, and else it is said that it is not compared."""
    kubeconfigs = shop.world.config["kubeconfigs"]
    kubeconfigs["a"] += "# rotated\n"
    assert changed(planned(shop, SHOW)) == {"dev/a": ["kubeconfig"]}
    assert changed(planned(shop)) == {}
    said = run(
        "plan",
        shop.project,
        "--stack",
        shop.name,
        "--state",
        shop.folder / "export.json",
        width=200,
    ).stdout
    assert "hides it: the kubeconfigs of dev/a, dev/b, " in said
    assert kubeconfigs["a"].splitlines()[-3] not in said


SHOW = "--show-secrets"


@pytest.mark.parametrize("options", [(), (SHOW,)], ids=["encrypted", "shown"])
def test_what_was_just_delivered_does_not_change(
    shop: Engine[Story], options: tuple[str, ...]
) -> None:
    assert changed(planned(shop, *options)) == {}
    space = shop.world.space
    # The same data, written otherwise.
    shop.world.objects["text"] = secret(space, "text", data={"k": OLD})
    shop.world.objects["data"] = secret(space, "data", stringData={"k": "one"})
    assert not {
        name for name in changed(planned(shop, *options)) if name.endswith(("/text", "/data"))
    }
    shop.world.objects["text"] = secret(space, "text", stringData={"k": "two"})
    seen = changed(planned(shop, SHOW))
    assert {name: fields for name, fields in seen.items() if "shop@" in name} == {
        **{f"dev/shop@{member}/{space}/text": ["data"] for member in "ab"},
        **{f"dev/shop@{member}": ["revision"] for member in "ab"},
    }
    assert not [name for name in changed(planned(shop)) if f"/{space}/" in name]


def test_what_members_keep_need_not_be_shown(shop: Engine[Story]) -> None:
    """Nothing wrong is said of it: it is neither deleted nor changed, and a warning says what is not known."""
    shop.world.objects["shop"]["spec"]["strategy"] = {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 0},
    }
    shop.world.objects["c"] = config_map(shop.world.space, "two")
    for _ in range(2):
        shown, encrypted = planned(shop, SHOW), planned(shop)
        assert changed(encrypted).keys() == changed(shown).keys()
        assert {item["change"] for item in encrypted["resources"] if "shop@" in item["name"]} == {
            "same"
        }
        (warning,) = encrypted["warnings"]
        assert (
            "revision 0 stays on some members, and the state does not show its content, so it is not comp"
            in warning
        )
        assert "--show-secrets" in warning
        assert shop.up().ok
    assert changed(planned(shop)) == {}
