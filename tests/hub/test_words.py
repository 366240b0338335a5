"""People are shown words of their systems: over all recordings no plan tells of what the package is made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest

from fleet_components.hub.reading import read_hub
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.planning.standing import on_hub
from fleet_components.review.planning.survey import Survey
from fleet_components.review.showing.markdown import to_markdown
from fleet_components.review.showing.plan import plan_view
from fleet_components.review.showing.terminal import printed
from tests.delivery.karmada.recording import Recording as OfKarmada
from tests.hub.karmada import settled
from tests.hub.karmada.api import Api
from tests.hub.karmada.recorded import ControlPlane
from tests.hub.kubefleet import planned as kubefleet
from tests.hub.kubefleet.test_recordings import observations
from tests.vectors import recordings

INTERNAL = re.compile(
    r"\b(memory|claim|schedule|decisions|bindings)\.\w|\b(digests?|subjects?|standing|wire|roster)\b|<[A-Z]\w+|"
    r"\b(Decided|Outcome|Weight|Placed|TemplateState|PlacementMemory|Survey|None|True|remembered)\b(?! of)"
)
"""Fields of records, names of classes, values of Python, and words that no user of a hub knows."""
ALLOWED = re.compile(r"what is remembered of|status: True|\"True\"|'True'|=True")


def of_kubefleet(name: str) -> Iterator[FleetPlan]:
    seen = observations(name)
    yield from map(kubefleet.planned, seen)
    yield from (
        kubefleet.planned(after, past=kubefleet.past_of(before)) for before, after in pairwise(seen)
    )


def of_karmada(name: str) -> Iterator[FleetPlan]:
    recording = OfKarmada.kept(name)
    hub, before = ControlPlane(recording), None
    for step in recording.steps:
        seen = read_hub(Api(tuple(hub.objects(step))).listing())
        yield settled.planned(seen)
        if before:
            yield settled.planned(before, settled.source_of(seen))
        before = seen


def shown(plan: FleetPlan) -> Iterator[str]:
    subject = {"paths": ["fleet"], "stack": "local"}
    surveyed = Survey((plan,), "", subject, standing=on_hub(plan), after=dict)
    document = plan_document(surveyed)
    page = plan_view(document)
    yield to_markdown(page)
    yield printed(page.blocks)


@pytest.mark.long
@pytest.mark.parametrize(
    ("plans", "name"),
    [
        *((of_kubefleet, name) for name in recordings("kubefleet-live")),
        *((of_karmada, name) for name in recordings("karmada-live")),
    ],
)
def test_no_plan_tells_of_what_it_is_made_of(
    plans: Callable[[str], Iterator[FleetPlan]], name: str
) -> None:
    lines = [line for plan in plans(name) for text in shown(plan) for line in text.splitlines()]
    assert lines
    assert sorted({line for line in lines if INTERNAL.search(ALLOWED.sub("", line))}) == []
