"""Builders of small fleets: what they make is taken as it is."""

from __future__ import annotations

import pytest

from fleet_components.content.guarded import read_yaml
from fleet_components.testing import kubeconfig


@pytest.mark.parametrize("name", ["y", "no", "1", "null"])
def test_a_member_may_have_a_name_that_is_something_else_in_yaml(name: str) -> None:
    assert read_yaml(kubeconfig(name))["clusters"][0]["name"] == name
