"""Try override policies on a template with a part of them left out."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from fleet_components.content.overridden import Object, Overridden, OverrideError
from fleet_components.content.override_parts import Part, left_out
from fleet_components.model.cluster import Cluster
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import Vocabulary, few
from fleet_components.plan.idle import Idle
from fleet_components.plan.no_match import meant
from fleet_components.plan.record import Objects
from fleet_components.plan.subject import Decided
from fleet_components.plan.trial import OverrideTrial, Unchanged, has_value
from fleet_components.systems.karmada.content.override import (
    ANNOTATIONS,
    ARGS,
    COMMAND,
    IMAGE,
    LABELS,
    OVERRIDERS,
    override,
    parts_of,
    unread,
)
from fleet_components.systems.karmada.content.overriders import containers_of, with_containers
from fleet_components.systems.karmada.content.template import as_read, in_preferred_version
from fleet_components.systems.karmada.model.override import OverridePolicy
from fleet_components.systems.karmada.model.policy import Placement, Rank
from fleet_components.systems.karmada.plan.content import Share, shared
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.record import TemplateRecord
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.plan.templates import Templates


@attrs.frozen(eq=False, slots=False)
class TemplateTrial(OverrideTrial):
    """A template, to try override policies on each of its members.

    Attributes:
        subject: the template.
        outcome: its decision.
        along: the members of the templates that it goes along with.
    """

    subject: TemplateSubject
    outcome: TemplateOutcome
    along: frozenset[str] = frozenset()

    @cached_property
    def members(self) -> Sequence[Cluster]:
        """The members that have it, or that its policy or those of its parents may choose."""
        bound = self.outcome.record.memory.claim.bound
        placement = bound.placement if bound else None
        chosen = {*self.outcome.goal.decisions, *self.along}
        return [
            cluster
            for cluster in self.subject.inventory.clusters
            if cluster.name in chosen or (placement and may_choose(placement, cluster))
        ]

    @property
    def is_placed(self) -> bool:
        """True if any member has it."""
        return bool(self.outcome.goal.decisions)

    @cached_property
    def reached(self) -> Mapping[str, Manifest]:
        """The override policies that select the object as it is read, which they may change
        later.
        """
        read = Manifest(self._read)
        found = (policy for policy in self._policies if policy.spec.rank(read) is not Rank.NO_MATCH)
        return {str(policy.manifest.key): self.subject.manifest for policy in found}

    def applies(self, override: str, rule: int, member: Cluster) -> bool:
        """Return whether a rule of a policy selects a member."""
        return self.by_key[override].spec.rules[rule].applies_to(member)

    def alike(self, member: Cluster) -> Hashable:
        """Return the rules that select the member, as all members are tried with one share."""
        return tuple(
            (number, index)
            for number, policy in enumerate(self._policies)
            for index, rule in enumerate(policy.spec.rules)
            if rule.applies_to(member)
        )

    def results(self, member: Cluster, parts: Collection[Part] = ()) -> Sequence[Overridden]:
        """Return what the policies make of the object."""
        policies = self._policies if not parts else self._without(parts)
        return [override(Manifest(self._written), member, policies, self._read)]

    def emitted(self, results: Sequence[Overridden]) -> Objects:
        """Return the object as it is sent; commands and args without words count as none."""
        made = tuple(result.data for result in results if result.data is not None)
        return tuple(map(without_empty_words, TemplateRecord.opened(made)))

    def alike_objects(self, value: Object | None, other: Object | None) -> bool:
        """Return whether two forms of the object differ at most in empty commands and args."""
        first, second = (data and without_empty_words(data) for data in (value, other))
        return first == second

    def unchanged(self, part: Part, data: Mapping[str, Any]) -> Unchanged:
        """Return why a part changes nothing in the object."""
        return unchanged(part, self.by_key[part.override].manifest, Manifest(data))

    def _without(self, parts: Collection[Part]) -> Collection[OverridePolicy]:
        """Return the overrides without some parts of one of them."""
        written = self.by_key[next(iter(parts)).override].manifest
        other = OverridePolicy.from_manifest(Manifest(left_out(written.data, parts)))
        return [other if policy.key == other.key else policy for policy in self._policies]

    @cached_property
    def _policies(self) -> Collection[OverridePolicy]:
        index = self.subject.policies.override_index
        # Without policies the form of the object is not built at all.
        return index.concerning(Manifest(self._written)) if index.policies else ()

    @cached_property
    def by_key(self) -> Mapping[str, OverridePolicy]:
        """The overrides that may concern any of the objects, by ``Kind namespace/name``."""
        return {str(policy.manifest.key): policy for policy in self._policies}

    @cached_property
    def _read(self) -> Object:
        claimed = self.outcome.record.memory.claim.policy
        return as_read(self._shared, self.subject.custom, (claimed.kind,) if claimed else ())

    @cached_property
    def _written(self) -> Object:
        return in_preferred_version(self._shared, self.subject.custom)

    @cached_property
    def _shared(self) -> Object:
        """The object with a number of replicas that no rule asks for where they are divided: the
        shares of members change with every decision.
        """
        record, replicas = self.outcome.record, self.outcome.template.replicas
        # Any share will do: those of an undivided template are alike, others get their numbers
        # below.
        share = next(iter(self.outcome.goal.decisions.values()), Share(revision=record.revision))
        bound = record.memory.claim.bound
        if bound and bound.placement.divided and replicas:
            more = replicas + 1
            # None stays None: only a Job has completions.
            share = attrs.evolve(share, replicas=more, completions=share.completions and more)
        elif share.replicas is None and replicas:
            share = attrs.evolve(share, replicas=replicas)
        return shared(record.contents[record.revision], share)


def may_choose(placement: Placement, cluster: Cluster) -> bool:
    """Return whether the affinities of a placement let it choose a member, whatever its state."""
    groups = placement.cluster_affinities
    every = [*groups, *(affinity for group in groups for affinity in group.overflow_affinities)]
    if not every:
        return placement.cluster_affinity is None or placement.cluster_affinity.matches(cluster)
    return any(cluster_affinity.matches(cluster) for cluster_affinity in every)


# Say why an overrider changes nothing in an object.


_NO_CONTAINERS = "has no containers that this overrider changes"
_KINDS = (
    "Karmada looks at those of Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs"
)


def unchanged(part: Part, policy: Manifest, manifest: Manifest) -> Unchanged:
    """Return why a part of an override policy changes nothing in an object."""
    at = next((place for place, step in enumerate(part.path) if step in OVERRIDERS), None)
    if at is None:
        return Unchanged(Message("is-so-already", "{key} is so already", key=manifest.key))
    # Each overrider is a list, so the step after its name is the index of the operation.
    field, operation = part.path[at], value_at(policy.data, part.path[: at + 2])
    # With a predicate an imageOverrider names the field itself, whatever the kind.
    if field in (IMAGE, COMMAND, ARGS) and not operation.get("predicate"):
        return _of_containers(str(field), operation, part, manifest)
    if field in (LABELS, ANNOTATIONS):
        return _of_texts(str(field), operation, part, manifest)
    return has_value(manifest)


def without_empty_words(data: Object) -> Object:
    """Return an object without the commands and args that have no words: members get none."""
    try:
        containers = containers_of(data)
    except OverrideError:
        return data
    changed = {
        number: {
            key: item for key, item in container.items() if key not in ("command", "args") or item
        }
        for number, container in enumerate(containers)
        if any(container.get(field) == [] for field in ("command", "args"))
    }
    return with_containers(data, containers, changed)


def _of_containers(
    field: str, operation: Mapping[str, Any], part: Part, manifest: Manifest
) -> Unchanged:
    try:
        containers = containers_of(manifest.data)
    except OverrideError:
        containers = []
    if not containers:
        return Unchanged(
            Message(
                "object-without-containers",
                "{key} {no_containers}",
                key=manifest.key,
                no_containers=_NO_CONTAINERS,
            ),
            _KINDS,
        )
    if field == IMAGE:
        return Unchanged(
            Message(
                "images-makes-them-already",
                "the images of {key} are as it makes them already",
                key=manifest.key,
            ),
            "take it out",
        )
    name = operation["containerName"]
    named = [container for container in containers if container.get("name") == name]
    if not named:
        known = Vocabulary(str(container.get("name")) for container in containers)
        what = Message(
            "no-container", '{key} has no container "{name}"', key=manifest.key, name=name
        )
        return Unchanged(what, meant(name, known, "its containers are"))
    target = "command" if field == COMMAND else "args"
    words = (
        part.written if isinstance(part.written, str) else few(list(operation.get("value") or ()))
    )
    if operation["operator"] == "remove":
        has = few([str(word) for container in named for word in container.get(target) or ()])
        return Unchanged(
            Message(
                "container-no",
                'container "{name}" of {key} has no {words}',
                name=name,
                key=manifest.key,
                words=words,
            ),
            f"its {target} are: {has or 'none'}",
        )
    return Unchanged(
        Message("adds-no-words", "it adds no words"), "write them in value, or take it out"
    )


def _of_texts(
    field: str, operation: Mapping[str, Any], part: Part, manifest: Manifest
) -> Unchanged:
    noun = "label" if field == LABELS else "annotation"
    texts = manifest.metadata.get(f"{noun}s") or {}
    keys = [part.path[-1]] if isinstance(part.written, str) else list(operation.get("value") or ())
    if not keys:
        return Unchanged(
            Message("names-no", "it names no {noun}", noun=noun),
            "write it in value, or take it out",
        )
    absent = [str(key) for key in keys if key not in texts]
    if absent and operation["operator"] != "add":
        hint = meant(absent[0], Vocabulary(texts), f"its {noun}s are")
        add = "; to set it write operator: add" if operation["operator"] == "replace" else ""
        return Unchanged(
            Message(
                "has-no",
                "{key} has no {noun} {absent}",
                key=manifest.key,
                noun=noun,
                absent=few(absent),
            ),
            hint + add,
        )
    return Unchanged(
        Message(
            "has-that-already",
            "{key} has that {noun} already: {keys}",
            key=manifest.key,
            noun=noun,
            keys=few(keys),
        ),
        "take it out, or write another value",
    )


# Find rules of override policies that have no effect.


_UNREAD = Message(
    "not-read-karmada-carries",
    "is not read: Karmada carries out the overrideRules beside it, and nothing else",
)
_INTO_RULES = "move it into a rule: overrideRules: [{overriders: {...}}]"
_EMPTY = Message("no-overriders-changes-nothing", "has no overriders, and changes nothing")


def idle_rules(
    templates: Templates, subjects: Iterable[Decided], inventory: Inventory
) -> Iterator[Problem]:
    """Yield the rules of override policies that have no effect, or the parts of them that have
    none.
    """
    policies = {
        str(policy.manifest.key): policy.manifest for policy in templates.policies.overrides
    }
    rules = {key: parts_of(policy) for key, policy in policies.items()}
    for key, policy in policies.items():
        path = unread(policy)
        if path:
            yield policy.problem(_UNREAD, path, _INTO_RULES)
        empty = (rule for rule in rules[key] if not rule.written)
        yield from (
            policy.problem(_EMPTY, rule.path, "write what it changes, or take it out")
            for rule in empty
        )
    if policies:
        yield from Idle(rules, policies, list(_trials(templates, subjects)), inventory).problems()


def _trials(templates: Templates, subjects: Iterable[Decided]) -> Iterator[TemplateTrial]:
    """Yield the templates whose content is known, each with the members of those that need it."""
    decided = {
        item.subject.key: item for item in subjects if isinstance(item.subject, TemplateSubject)
    }
    along: dict[str, frozenset[str]] = {}
    for workload in templates.workloads:  # what needs others comes before them
        item = decided.get(workload.key)
        if item is None or item.record.revision not in item.record.contents:
            continue
        theirs = frozenset[str]().union(*(along.get(parent, ()) for parent in workload.needed_by))
        subject: Any = item.subject
        trial = TemplateTrial(subject, item.outcome, theirs)
        along[workload.key] = frozenset(member.name for member in trial.members)
        yield trial
