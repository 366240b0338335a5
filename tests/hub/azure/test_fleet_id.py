"""Resource IDs of fleets: read in any case, refused by the part that is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_components.hub.azure.fleet_resource import FORM, FleetId, read_fleet_id
from fleet_components.model.problem import FleetError
from tests.hub.azure.resources import FLEET, SUBSCRIPTION


@pytest.mark.parametrize(
    "text",
    [
        FLEET,
        f" {FLEET}/ ",
        FLEET.replace("resourceGroups", "resourcegroups").replace("Microsoft", "microsoft"),
    ],
)
def test_an_id_is_read_as_azure_writes_it_anywhere(text: str) -> None:
    assert read_fleet_id(text) == FleetId(SUBSCRIPTION, "rg-fleet", "shop")
    assert str(read_fleet_id(text)) == FLEET


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("shop", ['"shop" is not the resource ID of a fleet']),
        ("", ['"" is not the resource ID of a fleet']),
        (f"https://management.azure.com{FLEET}", ["is not the resource ID of a fleet"]),
        (f"{FLEET}/members/m1", ["is not the resource ID of a fleet"]),
        (
            FLEET.replace(SUBSCRIPTION, "mine"),
            ['the subscription "mine" of the resource ID is not a GUID'],
        ),
        (
            FLEET.replace("/fleets/", "/managedClusters/"),
            ['is of "Microsoft.ContainerService/managedClusters"'],
        ),
        (FLEET.replace("rg-fleet", "a b"), ['the resource group "a b"']),
        (FLEET.replace("rg-fleet", ".."), ['the resource group ".."']),
        (FLEET.replace("shop", "shop?x=1"), ['the fleet "shop?x=1"']),
        (FLEET.replace("shop", "s" * 64), ["the fleet "]),
        (
            FLEET.replace("shop", "-").replace(SUBSCRIPTION, ""),
            ['the subscription ""', 'the fleet "-"'],
        ),
    ],
)
def test_each_wrong_part_is_named_with_the_form_that_is_right(text: str, told: list[str]) -> None:
    with pytest.raises(FleetError) as caught:
        read_fleet_id(text)
    assert len(caught.value.problems) == len(told)
    for problem, words in zip(caught.value.problems, told, strict=True):
        assert words in problem.what
        assert FORM in problem.hint


@given(st.text(alphabet="ab0-._/?#%&@:\\ \n", max_size=30))
def test_no_name_reaches_another_path(text: str) -> None:
    try:
        found = read_fleet_id(FLEET.replace("shop", text))
    except FleetError:
        return
    assert str(found).count("/") == FLEET.count("/")
    assert not set(str(found)) & set("?#%&@:\\ \n")
