"""Rules that the team has set for its fleet. Run them with: pytest examples/policy-tests."""

from fleet_components.testing import (
    PlannedFleet,
    at_least,
    fulfilled,
    not_only_together,
    rule,
    stays_in,
)

UNION = {"westeurope", "northeurope"}


def test_tier_0_survives_the_loss_of_a_region(fleet_plan: PlannedFleet) -> None:
    at_least(fleet_plan.placements(label="tier=0"), 2, by="region")


def test_never_two_tier_0_services_in_one_region_only(fleet_plan: PlannedFleet) -> None:
    not_only_together(fleet_plan.placements(label="tier=0"), by="region")


def test_tier_0_is_whole_again_after_the_loss_of_any_region(fleet_plan: PlannedFleet) -> None:
    with rule("each service of tier 0 is fulfilled again") as broken:
        for region, rest in fleet_plan.losing_each("region"):
            with broken.when(f"{region} is lost"):
                fulfilled(rest.placements(label="tier=0"))


def test_the_books_stay_in_the_union(fleet_plan: PlannedFleet) -> None:
    stays_in(fleet_plan.placed("ledger"), UNION, by="region")


def test_tier_0_has_two_replicas_wherever_it_runs(fleet_plan: PlannedFleet) -> None:
    with rule("each service of tier 0 has two replicas on each of its clusters") as broken:
        for service in fleet_plan.placements(label="tier=0"):
            if few := [member for member, replicas in service.replicas.items() if replicas < 2]:
                broken.by(service, "has fewer", few, hint="spec.replicas: 2")


def test_nothing_is_refused(fleet_plan: PlannedFleet) -> None:
    assert fleet_plan.refused == ()
