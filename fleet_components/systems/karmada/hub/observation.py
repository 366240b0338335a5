"""The observation of a Karmada control plane."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet_components.content.outline import is_outlined
from fleet_components.content.secret_text import is_secret_kind
from fleet_components.hub.listing import Listing, Query
from fleet_components.hub.observation import HubObservation
from fleet_components.model.manifest import Manifest
from fleet_components.model.text import count, few
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.systems.karmada.hub.binding import Binding
from fleet_components.systems.karmada.hub.kinds import (
    BINDINGS,
    MEMBER,
    MEMBER_GROUP,
    NAMESPACE,
    STEERING,
    WORK,
    WORK_GROUP,
)
from fleet_components.systems.karmada.hub.reading import Reading, reading_of
from fleet_components.systems.karmada.hub.settings import UNTOLD
from fleet_components.systems.karmada.model.policy import CLUSTER_PROPAGATION, PROPAGATION
from fleet_components.systems.karmada.model.release import TABLE
from fleet_components.systems.karmada.plan.templates import template_name
from fleet_components.systems.karmada.scheduler.matching import skips


def karmada_observation(listing: Listing) -> HubObservation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: an object of the control plane cannot be read.
    """
    reading = reading_of(listing)
    subjects = (*(copy.observed for copy in reading.copies.values()), *reading.unbound)
    return HubObservation(
        system=listing.system,
        as_of=listing.as_of,
        members=reading.members,
        policies=reading.policies,
        objects=reading.objects,
        subjects=tuple(sorted(subjects, key=lambda subject: subject.name)),
        waiting=reading.templates.waiting,
        unanswered=reading.unanswered,
        unknown=tuple(f"{TEMPLATE_KIND}/{template_name(key)}" for key in reading.unknown),
        notes=notes_of(reading),
        release=listing.release,
        no_release=(
            "" if listing.release else TABLE.assumed("its components run on another cluster")
        ),
    )


# Notes of what an observation of a Karmada control plane leaves out.


def notes_of(reading: Reading) -> tuple[str, ...]:
    """Return the notes, sorted."""
    kinds = (_unusable, _leaving, _bindings, _passed_over, _workloads, _overridden, _pending)
    return tuple(sorted({UNTOLD, *(note for notes in kinds for note in notes(reading))}))


def _unusable(reading: Reading) -> Iterator[str]:
    for problem in reading.source.problems:
        where = ".".join(map(str, problem.path))
        yield (
            f"a plan refuses {problem.subject or 'an object'} as it"
            f" is{f': {where}' if where else ''}"
        )


def _leaving(reading: Reading) -> Iterator[str]:
    for data in reading.leaving:
        manifest = Manifest(data)
        if manifest.kind != "Cluster":
            yield f"{manifest.key} is being deleted and is left out"


def _workloads(reading: Reading) -> Iterator[str]:
    for workload in reading.workloads:
        yield (
            f"bindings tell that {workload.kind} of {workload.api_version} has its replicas in"
            f" {workload.replicas}"
        )


def _pending(reading: Reading) -> Iterator[str]:
    for workload in reading.pending:
        yield (
            f"a policy selects {workload.manifest.key}, and it has no binding yet: a plan makes one"
        )


def _overridden(reading: Reading) -> Iterator[str]:
    found = [
        copy.bound.binding.template
        for copy in reading.copies.values()
        if copy.in_force.numbers and is_outlined(copy.bound.subject.manifest.data)
    ]
    if found:
        which = count(len(found), "Secret")
        yield (
            f"override policies go into {which} of which the data was not read, and may fail:"
            f" {few(found)}"
        )


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
        name = binding.spec.get("schedulerName")
        if name not in (None, "", "default-scheduler"):
            yield f"{key} is scheduled by {name}, whose rules a plan does not know"
    for copy in reading.copies.values():
        template = copy.bound.binding.template
        members = copy.leftovers
        if members:
            yield f"{template} is being removed from {few(members)}"
        members = copy.untold
        if members:
            yield (
                f"what runs of {template} on {few(members)} is not known: it changed while"
                " dispatching was suspended"
            )
        failing = [
            name
            for name, item in copy.bound.binding.reported.items()
            if item.get("health") == "Unhealthy"
        ]
        if failing and (copy.bound.state.spec.get("failover") or {}).get("application"):
            yield (
                f"{template} is Unhealthy on {few(sorted(failing))}; only an ApplicationHealth"
                " tells a plan"
            )
        if copy.unlike and not copy.works:
            hidden = is_outlined(copy.bound.subject.manifest.data)
            why = (
                "without --secrets, Works that hold a Secret are not read"
                if hidden
                else "its Works were not read"
            )
            yield f"members may run another version of {template}: {why}"
        if copy.bound.replicas != (counted := copy.bound.binding.spec.get("replicas") or 0):
            yield (
                f"the control plane counts {counted} replicas of {template}, a plan"
                f" {copy.bound.replicas}"
            )


# Requests that an observation of a Karmada control plane needs.


def karmada_queries(listing: Listing) -> tuple[Query, ...]:
    """Return all requests that an observation needs, as far as the answers so far show.

    First members, policies, bindings and namespaces; then the templates that these name; then the
    Works of bindings whose members may run something else than the template as it is now.
    """
    first = tuple(_first(listing))
    if listing.lacking(first):
        return first
    second = (*first, *_templates(listing))
    if listing.lacking(second):
        return second
    return (*second, *_works(listing))


def _first(listing: Listing) -> Iterator[Query]:
    space = listing.served.get(("", NAMESPACE))
    if space:
        yield Query(space.api_version, NAMESPACE)
    for (group, kind), resource in sorted(listing.served.items()):
        binds = group == WORK_GROUP and kind in BINDINGS
        if binds or group in STEERING or (group, kind) == (MEMBER_GROUP, MEMBER):
            yield Query(resource.api_version, kind)


def _templates(listing: Listing) -> Iterator[Query]:
    asked: dict[tuple[str, str], set[str]] = defaultdict(set)
    for version, kind, namespace in (*_selected(listing), *_bound(listing)):
        asked[version, kind].add(namespace)
    for (version, kind), namespaces in sorted(asked.items()):
        resource = listing.served.get((version.rpartition("/")[0], kind))
        # A request for all namespaces replaces those for single ones.
        everywhere = "" in namespaces or not (resource and resource.namespaced)
        hidden = is_secret_kind(kind) and not listing.secrets
        for namespace in sorted({""} if everywhere else namespaces):
            yield Query(version, kind, namespace, metadata_only=hidden)


def _selected(listing: Listing) -> Iterator[tuple[str, str, str]]:
    """Yield apiVersion, kind and namespace of what propagation policies select; no namespace means
    all of them.
    """
    for kind in (PROPAGATION, CLUSTER_PROPAGATION):
        for policy in listing.all(kind, "policy.karmada.io"):
            own = policy["metadata"].get("namespace") or ""
            for selector in policy.get("spec", {}).get("resourceSelectors") or ():
                # A PropagationPolicy selects in its own namespace only, whatever its selectors say.
                namespace = own or selector.get("namespace") or ""
                if selector.get("kind") and not skips(namespace):
                    yield selector["apiVersion"], selector["kind"], namespace


def _bound(listing: Listing) -> Iterator[tuple[str, str, str]]:
    for binding in (Binding(data) for kind in BINDINGS for data in listing.all(kind, WORK_GROUP)):
        yield binding.api_version, binding.template.kind, binding.template.namespace


def _works(listing: Listing) -> Iterator[Query]:
    """Yield requests for the Works of the bindings whose members may run something else than the
    template now.
    """
    served = listing.served.get((WORK_GROUP, WORK))
    marks = (
        {copies.bound.binding.mark for copies in reading_of(listing).unclear} if served else set()
    )
    # A binding that has no label yet has no Works either.
    for mark in sorted(filter(None, marks)):
        yield Query(served.api_version if served else "", WORK, label=mark)
