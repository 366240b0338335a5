"""Names of the providers of members."""

from __future__ import annotations

import pytest

from fleet_components.plan.names import is_provider_of


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
