"""Find rules of overrides that have no effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fleet_components.model.inventory import Inventory
from fleet_components.model.problem import Problem
from fleet_components.plan.idle import Idle
from fleet_components.plan.subject import Decided
from fleet_components.systems.kubefleet.content.parts import parts_of
from fleet_components.systems.kubefleet.plan.subject import PlacementSubject
from fleet_components.systems.kubefleet.plan.trial import PlacementTrial


def idle_rules(subjects: Iterable[Decided], inventory: Inventory) -> Iterator[Problem]:
    """Yield the rules of overrides that have no effect, or the operations of them that have none.

    An override that selects nothing that a placement brings is reported as such elsewhere.
    """
    trials = [
        PlacementTrial(decided.subject, decided.outcome)
        for decided in subjects
        if isinstance(decided.subject, PlacementSubject) and decided.subject.overrides
    ]
    overrides = {
        str(override.manifest.key): override.manifest for trial in trials for override in trial.subject.overrides
    }
    rules = {key: parts_of(manifest) for key, manifest in sorted(overrides.items())}
    yield from Idle(rules, overrides, trials, inventory).problems()
