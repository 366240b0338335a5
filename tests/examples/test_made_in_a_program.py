"""The example in which a program makes the objects of its fleet."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.fleets import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "made-in-a-program"
OBJECTS = {"shop", "shop/payment", "shop/prices", "shop/storefront"}


def test_every_member_gets_every_object() -> None:
    result = run("plan", EXAMPLE, "-o", "json")
    assert result.exit_code == 0, result.output
    made = {
        load["name"]
        for load in json.loads(result.stdout)["resources"]
        if load["type"].startswith("kubernetes:")
    }
    assert made == {f"prod/shop@{member}/{name}" for member in ("east", "west") for name in OBJECTS}
    assert "change-me" not in result.stdout
    readme = (EXAMPLE / "README.md").read_text()
    assert f"fleet plan examples/{EXAMPLE.name}\n" in readme
    assert f"shows {len(OBJECTS)} objects for east and for west" in readme
