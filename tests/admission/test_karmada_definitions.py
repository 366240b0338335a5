"""Our declarations against Karmada's own CustomResourceDefinitions: every type, default, bound and rule."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fleet_components.admission import karmada
from fleet_components.admission.registry import Kind
from tests.admission.definitions import genuine_lines, lines
from tests.shared import shared

# The API of Clusters is served by a server of its own and has no definition.
_DEFINED = [kind for kind in karmada.KINDS if kind.group != "cluster.karmada.io"]


@pytest.mark.parametrize("kind", _DEFINED, ids=lambda kind: kind.name)
def test_is_declared_as_in_the_definition(kind: Kind) -> None:
    definition = next(it for it in _definitions() if it["names"]["kind"] == kind.name)
    (version,) = definition["versions"]
    genuine = version["schema"]["openAPIV3Schema"]
    assert (kind.group, kind.version) == (definition["group"], version["name"])
    assert kind.namespaced == (definition["scope"] == "Namespaced")
    assert ("status" in kind.schema.fields) == ("status" in genuine["properties"])
    assert list(lines("", kind.schema.without("metadata", "status"))) == list(genuine_lines("", genuine))


def test_no_kind_that_users_write_is_unknown() -> None:
    ours = {kind.name for kind in _DEFINED} | {name for made in karmada.MADE_BY_SYSTEM.values() for name in made}
    assert {it["names"]["kind"] for it in _definitions() if not it["group"].startswith("work.")} == ours


def _definitions() -> list[dict[str, Any]]:
    return [yaml.safe_load(file.read_text())["spec"] for file in shared("data/crds/karmada").glob("*.yaml")]
