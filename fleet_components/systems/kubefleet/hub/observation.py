"""The observation of a hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fleet_components.content.envelope import is_envelope
from fleet_components.content.secret import is_secret, redacted
from fleet_components.content.strip import strip
from fleet_components.hub.listing import Listing, Object, Query
from fleet_components.hub.observation import HubObservation
from fleet_components.model.inventory import Inventory
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import Problem, show_path
from fleet_components.model.releases import Releases
from fleet_components.plan.given import Given
from fleet_components.plan.source import Source, gathered
from fleet_components.systems.kubefleet.hub.kinds import GROUP, MEMBERS, PLACEMENTS, Kept
from fleet_components.systems.kubefleet.hub.members import members_of
from fleet_components.systems.kubefleet.hub.queries import (
    AGENT,
    DEFINITIONS,
    is_agent,
    release_shown,
)
from fleet_components.systems.kubefleet.hub.snapshots import Contents, PolicySnapshots
from fleet_components.systems.kubefleet.hub.subjects import policies_of, subjects_of
from fleet_components.systems.kubefleet.model.member_cluster import read_member_cluster
from fleet_components.systems.kubefleet.plan.selection import Placements
from fleet_components.systems.kubefleet.scheduler import schedule


def kubefleet_observation(listing: Listing) -> HubObservation:
    """Return the observation that complete answers amount to.

    Raises:
        FleetError: the hub does not show what steers it, or what it remembers.
    """
    notes, kept, members = list[str](), Kept.of(listing), members_of(listing)
    unanswered = unanswered_lists(listing, kept)
    shown, why_not = release_shown(listing)
    releases = Releases.named(kubefleet=shown)
    policies, objects = (
        policies_of(listing, notes),
        tuple(objects_on(listing, kept, unanswered, notes)),
    )
    sent = {item.key for item in objects}
    judged = (
        *objects,
        *(manifest for manifest in definitions_instead(listing) if manifest.key not in sent),
    )
    source = gathered(Given((*map(Manifest, policies), *judged), releases=releases))
    inventory = Inventory(map(read_member_cluster, members), listing.as_of)
    refused = refused_policies(source, map(Manifest, policies), kept, inventory)
    if refused:
        notes += (
            f"{key} cannot be carried out, and is left out: {why}"
            for key, why in sorted(refused.items())
        )
        # A second time, since what only refused policies select is not observed.
        policies = tuple(data for data in policies if Manifest(data).key not in refused)
        source = gathered(Given((*map(Manifest, policies), *judged), releases=releases))
    return HubObservation(
        system=listing.system,
        as_of=listing.as_of,
        members=members,
        policies=policies,
        objects=selected_objects(source, objects),
        subjects=subjects_of(listing, kept, members, refused, notes, releases.kubefleet),
        unanswered=unanswered,
        notes=tuple(notes),
        release=shown,
        no_release=why_not,
    )


# The objects that placements select, as they are on a hub.


_ACCOUNT = "kubernetes.io/service-account.name"
"""Annotation that every Secret with the token of a service account has."""


def selected_objects(source: Source, there: Iterable[Manifest]) -> tuple[Object, ...]:
    """Return the objects that placements select, sorted by key, as a resource snapshot has them.

    Definitions of custom kinds are among them where one is selected.

    Args:
        source: policies and objects of the hub, as they are read.
        there: all objects that may be selected.
    """
    selections, _ = Placements(source).selections()
    wanted = {
        manifest.key for selection in selections for manifest in selection.selection.manifests
    }
    wanted |= _definitions(there, {(key.group, key.kind) for key in wanted})
    return tuple(
        _ordered(strip(item).data)
        for item in sorted(there, key=lambda item: item.key)
        if item.key in wanted
    )


def unanswered_lists(listing: Listing, kept: Kept) -> Mapping[Query, str]:
    """Return why requests for objects were not answered, including those that nobody could make.

    The hub has sent objects of a kind that it does not serve: an API server of its own is away.
    """
    sent = (Manifest(data) for data in _newest(listing, kept).values())
    gone = {
        Query(manifest.api_version, manifest.kind, manifest.namespace)
        for manifest in sent
        if (manifest.group, manifest.kind) not in listing.served
    }
    # The agent shows the release only: without it no object is missing.
    refused = {query: why for query, why in listing.refused.items() if query != AGENT}
    return {**dict.fromkeys(gone, "is not served"), **refused}


def definitions_instead(listing: Listing) -> Iterator[Manifest]:
    """Yield a definition of each custom kind that the hub serves, if it does not list its
    definitions.
    """
    if DEFINITIONS not in listing.refused:
        return
    for (group, kind), resource in sorted(listing.served.items()):
        if group and (group, kind) not in BUILT_IN and group not in BUILT_IN_GROUPS:
            versions = [{"name": resource.api_version.rpartition("/")[2], "served": True}]
            scope = "Namespaced" if resource.namespaced else "Cluster"
            names = {"kind": kind, "plural": resource.plural}
            spec = {"group": group, "names": names, "scope": scope, "versions": versions}
            header = {"apiVersion": DEFINITIONS.api_version, "kind": DEFINITIONS.kind}
            yield Manifest(
                {**header, "metadata": {"name": f"{resource.plural}.{group}"}, "spec": spec}
            )


def objects_on(
    listing: Listing, kept: Kept, unanswered: Mapping[Query, str], notes: list[str]
) -> Iterator[Manifest]:
    """Yield the objects that placements may select; Secrets without their data, unless it was asked
    for.

    Args:
        listing: the answers of the hub.
        kept: what the hub keeps.
        unanswered: the requests that were not answered.
        notes: notes are added about what is left out.
    """
    newest = _newest(listing, kept)
    # Otherwise objects of requests without an answer would seem to leave.
    yield from (
        Manifest(data)
        for key, data in newest.items()
        if any(query.asks_for(key) for query in unanswered)
    )
    for data in listing:
        manifest = Manifest(data)
        # Kinds of the hub itself are no content, except envelopes.
        if manifest.group == MEMBERS or (manifest.group == GROUP and not is_envelope(manifest)):
            continue
        if is_agent(manifest.key):
            continue
        if manifest.metadata.get("deletionTimestamp"):
            notes += (
                ()
                if manifest.key not in newest
                else [f"{manifest.key} is being deleted, and is left out"]
            )
        elif listing.secrets:
            yield manifest
        elif not is_secret(data):
            yield Manifest(redacted(data))
        elif manifest.key in newest:
            yield Manifest(newest[manifest.key])  # it has the names of the data
        else:
            yield Manifest(
                {
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "metadata": data["metadata"],
                    "type": _type(manifest),
                }
            )


def _type(secret: Manifest) -> str:
    """Return the type of a Secret of which only the metadata is known."""
    annotations = secret.metadata.get("annotations") or {}
    return "kubernetes.io/service-account-token" if _ACCOUNT in annotations else "Opaque"


def _newest(listing: Listing, kept: Kept) -> Mapping[ObjectKey, Object]:
    """Return the objects of the newest revisions of all placements."""
    found = {}
    for kind in PLACEMENTS:
        for placement in map(Manifest, listing.all(kind, GROUP)):
            found.update({Manifest(data).key: data for data in Contents.of(kept, placement).newest})
    return found


def _definitions(there: Iterable[Manifest], kinds: set[tuple[str, str]]) -> set[ObjectKey]:
    """Return the definitions of custom kinds."""
    found = set()
    for manifest in there:
        if (manifest.group, manifest.kind) == (DEFINITIONS.group, DEFINITIONS.kind):
            spec = manifest.data.get("spec") or {}
            defined = spec.get("group"), (spec.get("names") or {}).get("kind")
            if defined in kinds - BUILT_IN.keys():
                found.add(manifest.key)
    return found


def _ordered(data: Object) -> Object:
    """Return an object with its fields in the usual order."""
    # Only the order matters: each value comes from `data` in the end.
    first = ("apiVersion", "kind", "metadata")
    return {**{field: data[field] for field in first if field in data}, **data}


# Policies that a hub has, and cannot carry out.


def refused_policies(
    source: Source, policies: Iterable[Manifest], kept: Kept, inventory: Inventory
) -> Mapping[ObjectKey, str]:
    """Return the policies that no plan can take as they are, each with the reason.

    They were stored before what they name was gone or changed, or name what the hub only refuses
    later: a selector of an unknown kind, an envelope that cannot be opened, a policy by which the
    scheduler fails.

    Args:
        source: policies and objects of the hub, as they are read.
        policies: the policies.
        kept: what the hub keeps.
        inventory: the members.
    """
    selections, failed = Placements(source).selections()
    # Reversed, so that the first problem of each subject wins.
    why = {problem.subject: _words(problem) for problem in reversed((*source.problems, *failed))}
    taken = {
        (selection.placement.kind, selection.placement.namespace, selection.placement.name)
        for selection in selections
    }
    found = {}
    for policy in policies:
        reason = why.get(str(policy.key))
        if reason:
            found[policy.key] = reason
        elif (
            policy.kind in PLACEMENTS and (policy.kind, policy.namespace, policy.name) not in taken
        ):
            found[policy.key] = next(map(_words, failed), "what it selects cannot be read")
        elif policy.kind in PLACEMENTS:
            keys = (str(Manifest(data).key) for data in Contents.of(kept, policy).newest)
            broken = next((key for key in keys if key in why), "")
            if broken:
                found[policy.key] = f"{broken}: {why[broken]}"
            elif error := _unscheduled(policy, kept, inventory):
                found[policy.key] = error
    return found


def _unscheduled(placement: Manifest, kept: Kept, inventory: Inventory) -> str:
    """Return why the scheduler fails on a placement; empty if it does not."""
    policies = PolicySnapshots.of(kept, placement)
    # The hub has scheduled this policy, so its scheduler does not fail on it.
    if policies.scheduled:
        return ""
    return schedule(inventory, policies.newest, namespace=placement.namespace).error


def _words(problem: Problem) -> str:
    return ": ".join(filter(None, (show_path(problem.path), problem.what)))
