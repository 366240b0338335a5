"""Notes of what an observation of a Karmada control plane leaves out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet_components.content.outline import is_outlined
from fleet_components.model.manifest import Manifest
from fleet_components.model.text import count, few
from fleet_components.systems.karmada.hub.reading import Reading
from fleet_components.systems.karmada.hub.settings import UNTOLD


def notes_of(reading: Reading) -> tuple[str, ...]:
    """Return the notes, sorted."""
    kinds = (_unusable, _leaving, _bindings, _passed_over, _workloads, _overridden, _pending)
    return tuple(sorted({UNTOLD, *(note for notes in kinds for note in notes(reading))}))


def _unusable(reading: Reading) -> Iterator[str]:
    for problem in reading.source.problems:
        where = ".".join(map(str, problem.path))
        yield f"a plan refuses {problem.subject or 'an object'} as it is{f': {where}' if where else ''}"


def _leaving(reading: Reading) -> Iterator[str]:
    for data in reading.leaving:
        manifest = Manifest(data)
        if manifest.kind != "Cluster":
            yield f"{manifest.key} is being deleted and is left out"


def _workloads(reading: Reading) -> Iterator[str]:
    for workload in reading.workloads:
        yield f"bindings tell that {workload.kind} of {workload.api_version} has its replicas in {workload.replicas}"


def _pending(reading: Reading) -> Iterator[str]:
    for workload in reading.pending:
        yield f"a policy selects {workload.manifest.key}, and it has no binding yet: a plan makes one"


def _overridden(reading: Reading) -> Iterator[str]:
    found = [
        copy.bound.binding.template
        for copy in reading.copies.values()
        if copy.in_force.numbers and is_outlined(copy.bound.subject.manifest.data)
    ]
    if found:
        which = count(len(found), "Secret")
        yield f"override policies go into {which} of which the data was not read, and may fail: {few(found)}"


def _passed_over(reading: Reading) -> Iterator[str]:
    found: dict[str, list[str]] = defaultdict(list)
    for manifest in reading.source.not_carried_out:
        found[manifest.kind].append(manifest.name)
    for kind, names in found.items():
        yield f"{count(len(names), f'{kind} object')} that a plan does not carry out: {few(names)}"


def _bindings(reading: Reading) -> Iterator[str]:
    for key, binding in reading.bindings.items():
        if reading.listing.object(key) is None and key not in reading.unknown:
            yield f"the binding of {key} is left out: its template was not read"
        if (binding.spec.get("suspension") or {}).get("scheduling"):
            yield f"scheduling of {key} is suspended on its binding, which a plan does not know"
        if (name := binding.spec.get("schedulerName")) not in (None, "", "default-scheduler"):
            yield f"{key} is scheduled by {name}, whose rules a plan does not know"
    for copy in reading.copies.values():
        template = copy.bound.binding.template
        if members := copy.leftovers:
            yield f"{template} is being removed from {few(members)}"
        if members := copy.untold:
            yield f"what runs of {template} on {few(members)} is not known: it changed while dispatching was suspended"
        failing = [name for name, item in copy.bound.binding.reported.items() if item.get("health") == "Unhealthy"]
        if failing and (copy.bound.state.spec.get("failover") or {}).get("application"):
            yield f"{template} is Unhealthy on {few(sorted(failing))}; only an ApplicationHealth tells a plan"
        if copy.unlike and not copy.works:
            hidden = is_outlined(copy.bound.subject.manifest.data)
            why = "without --secrets, Works that hold a Secret are not read" if hidden else "its Works were not read"
            yield f"members may run another version of {template}: {why}"
        if copy.bound.replicas != (counted := copy.bound.binding.spec.get("replicas") or 0):
            yield f"the control plane counts {counted} replicas of {template}, a plan {copy.bound.replicas}"
