"""Hubs that are made by hand: what one has decided is what a plan from nothing decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
import yaml

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.secret import redacted
from fleet_components.hub.observation import SETTINGS, HubObservation, ObservedSubject
from fleet_components.model.manifest import Manifest
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.options import Options
from fleet_components.plan.own_outputs import MODES
from fleet_components.plan.past import Past
from fleet_components.plan.source import Source, source_of
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS
from tests.cli.fleets import FLEET
from tests.delivery.karmada.world import deployment, on, policy

AS_OF = datetime(2026, 11, 23, 18, 0, tzinfo=UTC)
KARMADA: tuple[Mapping[str, Any], ...] = (
    *(
        {
            "apiVersion": "cluster.karmada.io/v1alpha1",
            "kind": "Cluster",
            "metadata": {"name": name},
            "spec": {"syncMode": "Push"},
        }
        for name in ("a", "b", "c")
    ),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
    deployment(4, "web:1"),
    policy(placement=on("a", "b")),
)


def kubefleet(files: Mapping[str, str] = FLEET) -> list[dict[str, Any]]:
    """The objects of a small KubeFleet hub."""
    return [item for text in files.values() for item in yaml.safe_load_all(text)]


def observed(
    objects: Iterable[Mapping[str, Any]], system: System = SYSTEMS["kubefleet"], **more: Any
) -> HubObservation:
    """What is observed of a hub that has carried out its policies."""
    objects = [redacted(data) for data in objects]
    source = source_of(map(Manifest, objects))
    plan = plan_fleet(source, Past(settings=SETTINGS), Options(settings=SETTINGS))
    assert not plan.refused, plan.refused
    parts = Catalogue.of(tuple(map(Manifest, objects)), []).split()
    return HubObservation(
        system=system,
        as_of=AS_OF,
        members=tuple(member.data for member in parts.members),
        policies=tuple(item.data for item in parts.policies),
        objects=tuple(manifest.data for manifest in parts.objects.manifests),
        **{"subjects": subjects(plan), "waiting": plan.roster.get("waiting", {}), **more},
    )


def subjects(plan: FleetPlan) -> tuple[ObservedSubject, ...]:
    """What a plan has decided, once it is carried out."""
    return tuple(
        ObservedSubject(
            name=subject.name,
            record=subject.record,
            done={cluster: subject.settled(cluster) for cluster in subject.record.decisions},
            stands={
                cluster: tuple(
                    (Manifest(data).api_version, Manifest(data).key)
                    for data in subject.deliveries[cluster].written
                )
                for cluster in subject.record.decisions
            },
            **{key: value for key, value in subject.subject.shown().items() if key in MODES},
        )
        for subject in sorted(plan.subjects, key=lambda subject: subject.name)
    )


def seen(observation: HubObservation) -> Source:
    """The fleet as it was observed."""
    return source_of(
        map(Manifest, (*observation.members, *observation.policies, *observation.objects))
    )


def later(observation: HubObservation, **changes: Any) -> HubObservation:
    """The hub an hour later."""
    return attrs.evolve(
        observation, **{"as_of": datetime(2026, 11, 23, 19, 0, tzinfo=UTC), **changes}
    )


def texts(folder: Path) -> dict[str, str]:
    """The files of a directory."""
    return {
        p.relative_to(folder).as_posix(): p.read_text()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
