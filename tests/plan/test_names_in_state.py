"""Names in the state: of providers of members, and of objects as one text."""

from __future__ import annotations

import pytest

from fleet_components.model.manifest import ObjectKey
from fleet_components.plan.names import is_provider_of
from fleet_components.plan.own_outputs import _is_written
from fleet_components.plan.standing import read_written


@pytest.mark.parametrize(
    ("provider", "is_its"),
    [
        ("fleet/weu-1", True),
        ("fleet/weu-1/apply", True),
        ("fleet/weu-10", False),
        ("fleet/w", False),
    ],
)
def test_a_member_with_a_longer_name_is_another_member(provider: str, is_its: bool) -> None:
    assert is_provider_of(provider, "fleet/weu-1") is is_its


@pytest.mark.parametrize("name", ["view", "team|view", "|", "a|b|c|d"])
def test_a_role_may_have_the_separator_in_its_name(name: str) -> None:
    """An API server takes any name of a role that can stand in a path."""
    text = f"rbac.authorization.k8s.io/v1|ClusterRole||{name}"
    assert _is_written(text)
    assert read_written(text) == (
        "rbac.authorization.k8s.io/v1",
        ObjectKey("rbac.authorization.k8s.io", "ClusterRole", "", name),
    )
