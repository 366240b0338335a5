"""ClusterAffinity: members must match the affinity, including members that have the object
already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from fleet_components.model import mask as masks
from fleet_components.model.cluster import Cluster
from fleet_components.model.mask import Mask, has
from fleet_components.model.problem import FieldPath
from fleet_components.model.selector import Requirement
from fleet_components.scheduler.edit import (
    ADD,
    DROP,
    POLICY,
    Edits,
    FieldEdit,
    Ladder,
    set_field,
    to_match,
    to_miss,
    unset_field,
)
from fleet_components.scheduler.framework import Filter, Score
from fleet_components.systems.karmada.model import policy
from fleet_components.systems.karmada.scheduler.state import FIELDS, KarmadaState, matching

_PLACEMENT = ("spec", "placement")
_SINGLE: FieldPath = (*_PLACEMENT, "clusterAffinity")
_ANY = "other"
"""A value of a field that no selector names."""


class ClusterAffinity(Filter[KarmadaState]):
    """Filter by the affinity of the placement, or by the tried group and its overflow
    affinities.
    """

    name = "ClusterAffinity"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates that one of the affinities selects; all candidates if there are no
        affinities.
        """
        return candidates & state.selected

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) did not match the placement cluster affinity constraint"

    def admitting(self, state: KarmadaState, position: int) -> Iterable[Edits]:
        """Yield for each affinity that might select the member what it lacks."""
        for field, affinity in _written(state):
            change = _to_match(state, field, affinity, position)
            if change is not None:
                yield change

    def stopping(self, state: KarmadaState, position: int) -> Iterable[Ladder]:
        """Yield that the member does not match the only affinity that selects it, or is
        excluded.
        """
        cluster = state.inventory.clusters[position]
        selecting = [
            pair for pair in _written(state) if has(matching(state.inventory, pair[1]), position)
        ]
        # Without an affinity every member is selected, and a new one with `exclude` leaves it out.
        field, affinity = selecting[0] if selecting else (_SINGLE, policy.ClusterAffinity())
        # If several affinities select it, no change of one of them leaves the member out.
        if len(selecting) > 1:
            return
        labels = affinity.label_selector.requirements() if affinity.label_selector else ()
        for edits in (
            *to_miss(cluster.name, labels, cluster.labels),
            *_to_miss_fields(cluster, affinity),
        ):
            yield (edits,)
        exclude = (*field, "exclude")
        yield (
            (
                FieldEdit(
                    POLICY,
                    ADD,
                    exclude,
                    cluster.name,
                    f"with {cluster.name} in the policy's exclude",
                ),
            ),
        )


def _written(state: KarmadaState) -> Iterator[tuple[FieldPath, policy.ClusterAffinity]]:
    """Yield the affinities of which a member must match one, each with its path in the policy."""
    if state.placement.cluster_affinity:
        yield _SINGLE, state.placement.cluster_affinity
    elif state.group is not None:
        # Never empty: with a group, the affinities begin with it.
        first, *overflowing = state.affinities
        here: FieldPath = (
            *_PLACEMENT,
            "clusterAffinities",
            state.placement.cluster_affinities.index(state.group),
        )
        yield here, first
        for place, affinity in enumerate(overflowing):
            yield (*here, "overflowAffinities", place), affinity


def _to_match(
    state: KarmadaState, field: FieldPath, affinity: policy.ClusterAffinity, position: int
) -> Edits | None:
    cluster = state.inventory.clusters[position]
    labels = affinity.label_selector.requirements() if affinity.label_selector else ()
    edits = to_match(cluster.name, labels, cluster.labels)
    fields = _to_match_fields(cluster, affinity.field_selector)
    if edits is None or fields is None:
        return None
    listed, name = [*edits, *fields], cluster.name
    if affinity.cluster_names and name not in affinity.cluster_names:
        listed.append(
            FieldEdit(
                POLICY,
                ADD,
                (*field, "clusterNames"),
                name,
                f"with {name} in the policy's clusterNames",
            )
        )
    if name in affinity.exclude:
        listed.append(
            FieldEdit(
                POLICY, DROP, (*field, "exclude"), name, f"without {name} in the policy's exclude"
            )
        )
    return tuple(listed)


def _to_match_fields(cluster: Cluster, fields: policy.FieldSelector | None) -> Edits | None:
    """Return the fewest fields with which a member meets a selector; None if there are none."""
    edits = list[FieldEdit]()
    for key, asked in _by_key(fields).items():
        if policy.FieldSelector(asked).matches(cluster):
            continue
        values = [value for requirement in asked for value in requirement.values]
        tried = [
            *(set_field(cluster, key, value) for value in values),
            unset_field(cluster, key),
            set_field(cluster, key, _ANY),
        ]
        found = next(
            (
                edit
                for edit in tried
                if policy.FieldSelector(asked).matches(_with_field(cluster, edit))
            ),
            None,
        )
        if found is None:
            return None
        edits.append(found)
    return tuple(edits)


def _to_miss_fields(cluster: Cluster, affinity: policy.ClusterAffinity) -> Iterator[Edits]:
    """Yield for each field the first value with which a member does not meet a selector."""
    for key, asked in _by_key(affinity.field_selector).items():
        values = [*(value for requirement in asked for value in requirement.values), _ANY]
        tried = [unset_field(cluster, key), *(set_field(cluster, key, value) for value in values)]
        for edit in [
            item
            for item in tried
            if not policy.FieldSelector(asked).matches(_with_field(cluster, item))
        ][:1]:
            yield (edit,)


def _with_field(cluster: Cluster, edit: FieldEdit) -> Cluster:
    """Return a member with an edit of provider, region or zones."""
    match edit.field:
        case ("spec", "zones"):
            return attrs.evolve(cluster, zones=tuple(edit.value))
        case ("spec", "provider"):
            return attrs.evolve(cluster, provider=edit.value)
    return attrs.evolve(cluster, region=edit.value)


def _by_key(fields: policy.FieldSelector | None) -> Mapping[str, tuple[Requirement, ...]]:
    found: dict[str, tuple[Requirement, ...]] = {}
    for requirement in fields.match_expressions if fields else ():
        if requirement.key in FIELDS:
            found[requirement.key] = (*found.get(requirement.key, ()), requirement)
    return found


# ClusterEviction: rejects members that the object is being evicted from.


class ClusterEviction(Filter[KarmadaState]):
    """Filter that rejects members with an eviction task, whatever its purge mode."""

    name = "ClusterEviction"

    def mask(self, state: KarmadaState, candidates: Mask) -> Mask:
        """Return the candidates without an eviction task."""
        return candidates & ~state.inventory.mask_of_names(state.memory.evictions)

    def reason(self, state: KarmadaState, position: int) -> str:
        """Return Karmada's text, the same for every member."""
        return "cluster(s) is in the process of eviction"

    def remedy(self, state: KarmadaState, position: int) -> str:
        """Return when the member can be chosen again."""
        return "it can be chosen again when the eviction is over"


# ClusterLocality: prefers members that have the object already.


_HERE = 100


class ClusterLocality(Score[KarmadaState]):
    """Score that prefers current targets."""

    name = "ClusterLocality"

    def scores(self, state: KarmadaState, candidates: Mask) -> Mapping[int, Mask]:
        """Return 100 for each current target."""
        return {_HERE: candidates & state.targets}

    def words(self, state: KarmadaState, position: int) -> str:
        """Return whether the member has the object, in words."""
        return (
            "has the object"
            if masks.has(state.targets, position)
            else "does not have the object yet"
        )
