"""An update breaks after it has replaced objects, and the source goes back: on real API servers."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

from tests.delivery.driver import Outcome
from tests.engine.checked import checked
from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, deployment, refused, shop_of
from tests.engine.test_failures import allow, deny
from tests.engine.test_identity import tokens
from tests.engine.test_interrupted import pod, stop
from tests.engine.test_replacing import claim, placed_in, sealed

pytestmark = pytest.mark.engine
CLAIM, SEALED, WEB = ("persistentvolumeclaim", "web"), ("configmap", "web"), ("deployment", "web")
Broken = Callable[[Engine[Story]], Outcome]
NOWHERE = {"no": "node"}


def killed(story: Engine[Story]) -> Outcome:
    """The engine ends while the Deployment is written."""
    stop(story, signal.SIGKILL, lambda: "nodeSelector" in pod(story.world, "a"))
    assert story.command("cancel", "--yes")[0] == 0
    return Outcome(False, "", {})


@pytest.fixture
def denied(story: Engine[Story]) -> Iterator[None]:
    """API servers deny the new image as long as the test runs."""
    for plane in story.world.planes.values():
        deny(plane)
    yield
    for plane in story.world.planes.values():
        allow(plane)


def there_and_back(story: Engine[Story], web: Data, run: Broken = Engine.up) -> None:
    """An update replaces a claim and a ConfigMap, and breaks; then the source goes back.

    Going back replaces both again. It needs a token for the claim, everywhere, and names all that
    changes.
    """
    tale = story.world
    tale.leave("b")
    kept, other = (placed_in(tale.space, data) for data in claim())
    fixed, anew = (placed_in(tale.space, data) for data in sealed())
    shop_of(tale, claim=kept, sealed=fixed)
    assert (first := story.up()).ok, first.text
    source, before = tale.source(), tale.uids(CLAIM, SEALED, WEB, on="a")
    tale.objects |= {"claim": other, "sealed": anew, "web": web}
    confirmed(story)
    checked(story, run, fails=True)
    after = tale.uids(CLAIM, SEALED, WEB, on="a")
    assert [after[key] == old for key, old in before.items()] == [False, False, True]
    tale.go_back(source)
    confirmed(story)
    given = tale.config.pop("confirm")
    with story.fleet("rollout", ".", "--stack", story.name, "--yes") as process:
        said = process.communicate(timeout=300)
    assert process.returncode == 3, said
    assert tale.uids(CLAIM, SEALED, WEB, on="a") == after
    tale.config["confirm"] = given
    step = checked(story)
    assert {item["object"].split()[0] for item in step.plan["replaced"]} == {
        "PersistentVolumeClaim",
        "ConfigMap",
    }
    assert "2 objects are replaced on a" in step.plan["headline"][1]


def confirmed(story: Engine[Story]) -> None:
    """Allow what is refused."""
    story.world.config["confirm"] = ",".join(
        tokens(refused(story, "and made anew, with all that it holds"))
    )


def test_after_a_timeout(story: Engine[Story]) -> None:
    there_and_back(story, deployment(story.world.space, "web:2", waits=5, nodeSelector=NOWHERE))


def test_after_a_denial(story: Engine[Story], denied: None) -> None:
    there_and_back(story, deployment(story.world.space, "web:2"))


def test_after_the_engine_was_killed(story: Engine[Story]) -> None:
    there_and_back(story, deployment(story.world.space, "web:2", nodeSelector=NOWHERE), killed)
