"""Whatever a declaration holds: it is taken or refused, never an error of Python or of an SDK in the middle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pulumi_azure_native")

from fleet_components import FleetError
from fleet_components.azure import (
    ApiServer,
    AutoUpgrade,
    AzureFleet,
    AzureFleetArgs,
    AzureHubArgs,
    Entra,
    Group,
    HubNetwork,
    Login,
    MaintenanceWindow,
    Network,
    NodePool,
    Observation,
    Run,
    Stage,
    Strategy,
)
from fleet_components.components.refusal import RefusedError
from fleet_components.model.cluster import Taint
from tests.azure import world
from tests.azure.build import GUID, aks, pool

pytestmark = pytest.mark.long

HUB = AzureHubArgs(resource_group="rg", region="westeurope", kind="hubless")
PRIVATE = attrs.evolve(HUB, kind="private", network=HubNetwork(fleet_rp=GUID))


def member(**fields: Any) -> AzureFleetArgs:
    return AzureFleetArgs(members=(aks(**fields),), hub=HUB)


def steps(group: Group, stage: Stage | None = None) -> AzureFleetArgs:
    strategy = Strategy("rings", (stage or Stage("one", (group,)),))
    return AzureFleetArgs(members=(aks(group="canary"),), hub=HUB, strategies=(strategy,))


WITHIN: list[tuple[Any, Callable[[Any], AzureFleetArgs]]] = [
    (aks(), lambda item: AzureFleetArgs(members=(item, aks("other")), hub=HUB)),
    (pool(), lambda item: member(pools=(item,))),
    (NodePool("system", "Standard_D4s_v5", count=3), lambda item: member(system_pool=item)),
    (Network(), lambda item: member(network=item)),
    (ApiServer(private=True), lambda item: member(api_server=item)),
    (Entra(), lambda item: member(entra=item)),
    (Observation(), lambda item: member(observed=item)),
    (MaintenanceWindow("cluster", "Sunday"), lambda item: member(maintenance=(item,))),
    (Taint("key"), lambda item: member(taints=(item,), pools=(pool(taints=(item,)),))),
    (Group("canary"), steps),
    (Stage("one", ("canary",)), lambda item: steps(Group("canary"), item)),
    (
        Run("run", kubernetes_version="1.33"),
        lambda item: AzureFleetArgs(members=(aks(),), hub=HUB, runs=(item,)),
    ),
    (
        AutoUpgrade("stable"),
        lambda item: AzureFleetArgs(members=(aks(),), hub=HUB, profiles=(item,)),
    ),
    (HUB, lambda item: AzureFleetArgs(hub=item)),
    (Login(), lambda item: AzureFleetArgs(hub=attrs.evolve(HUB, login=item))),
    (
        HubNetwork(fleet_rp=GUID),
        lambda item: AzureFleetArgs(hub=attrs.evolve(PRIVATE, network=item)),
    ),
    (member(), lambda item: item),
]
ODD = st.one_of(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    st.sampled_from(
        [
            "1.33",
            "Standard",
            "10.0.0.0/33",
            "10.0.0.0/8",
            f"/subscriptions/{GUID}",
            10**400,
            "1" * 5000,
            "a\0",
            "\ud800",
        ]
    ),
    st.lists(st.text(max_size=3), max_size=3)
    | st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
)


@settings(max_examples=100)
@given(st.data())
def test_any_value_of_any_field(data: st.DataObject) -> None:
    within, fleet = data.draw(st.sampled_from(WITHIN))
    field = data.draw(st.sampled_from([field.name for field in attrs.fields(type(within))]))
    try:
        args = fleet(attrs.evolve(within, **{field: data.draw(ODD)}))
    except FleetError:
        return
    error = world.run(lambda: AzureFleet("shop", args)).error
    assert error is None or isinstance(error, RefusedError), error


@pytest.mark.parametrize(("within", "fleet"), WITHIN)
def test_each_is_taken_as_it_is(within: Any, fleet: Callable[[Any], AzureFleetArgs]) -> None:
    assert world.run(lambda: AzureFleet("shop", fleet(within))).error is None
