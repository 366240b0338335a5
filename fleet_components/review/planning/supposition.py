"""Suppositions about a fleet: members lost or added, objects replaced. Each changes the objects in
memory, and says so.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.source import Source
from fleet_components.review.planning.member_form import (
    FORMS,
    Data,
    MemberForm,
    form_of,
)
from fleet_components.review.planning.selection import (
    REGION,
    SelectableMembers,
)

SUPPOSED = Origin("as supposed", None, lambda _: None)
"""Origin of an object that is in no file, since it is supposed only."""


@attrs.frozen
class Supposed:
    """A fleet as it is supposed to be.

    Attributes:
        manifests: its objects.
        others: the members that no ``MemberCluster`` or ``Cluster`` declares.
        lost: the members that are gone for good.
        words: what was supposed, one sentence each.
    """

    manifests: tuple[Manifest, ...]
    others: tuple[Cluster, ...] = ()
    lost: frozenset[str] = frozenset()
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: Source) -> Supposed:
        """Return a fleet as it is."""
        others = tuple(
            cluster for cluster in source.clusters if cluster.name not in source.declarations
        )
        return cls(source.given.manifests, others)

    @cached_property
    def members(self) -> Mapping[str, Manifest]:
        """The members that are declared by an object of their own, by name."""
        return {manifest.name: manifest for manifest in self.manifests if form_of(manifest)}

    @cached_property
    def roster(self) -> SelectableMembers:
        """All members, to be selected."""
        return SelectableMembers((*map(_as_member, self.members.values()), *self.others))

    def saying(self, words: str) -> Supposed:
        """Return the fleet with a sentence about what was supposed."""
        return attrs.evolve(self, words=(*self.words, words))


class Supposition(ABC):
    """A change that is supposed."""

    @abstractmethod
    def applied(self, fleet: Supposed) -> Supposed:
        """Return the fleet with the change.

        Raises:
            FleetError: it names something that is not there, or cannot be changed so.
        """


@attrs.frozen
class Loss(Supposition):
    """Members are gone for good, as ``--lost`` says it.

    Attributes:
        members: the members, as :meth:`Roster.selected` reads them.
    """

    members: str

    def applied(self, fleet: Supposed) -> Supposed:
        """Mark them as lost; they stay declared."""
        selected = fleet.roster.selected(self.members)
        return attrs.evolve(fleet, lost=fleet.lost.union(selected.names)).saying(
            f"{selected.words} lost"
        )


@attrs.frozen
class Addition(Supposition):
    """A new member.

    Attributes:
        name: its name.
        like: the member that it is like, but for its name; empty for none.
        labels: its labels besides; ``region`` stands for the label that the other members have
            their region in.
    """

    name: str
    like: str = ""
    labels: Mapping[str, str] = attrs.field(factory=dict)

    def applied(self, fleet: Supposed) -> Supposed:
        """Add it beside the others."""
        if self.name in fleet.roster.names:
            raise FleetError(
                [
                    Problem(
                        Message(
                            "member-already", 'there is a member "{name}" already', name=self.name
                        ),
                        hint="give the new one another name",
                    )
                ]
            )
        model = self._model(fleet) if self.like else None
        form = form_of(model) if model else _only_form(fleet)
        # A model is a declared member, and these have a form.
        assert form
        data = _like(model, form, self.name) if model else form.new(self.name)
        # region stands for the label in which the other members have theirs: policies select by
        # that.
        labels = {self._key(key, model, fleet): value for key, value in self.labels.items()}
        for key, value in labels.items():
            form.give(data, key, value)
        like = f" like {self.like}" if self.like else ""
        shown = (
            f" with {', '.join(f'{key}={value}' for key, value in labels.items())}"
            if labels
            else ""
        )
        added = attrs.evolve(fleet, manifests=(*fleet.manifests, Manifest(data, SUPPOSED)))
        return added.saying(f"{self.name} added{like}{shown}")

    def _model(self, fleet: Supposed) -> Manifest:
        # One name selects one member, and its words are that name; those of a pattern are no name.
        name = fleet.roster.selected(self.like).words
        if name not in fleet.members:
            what = Message(
                "not-membercluster-cluster-own",
                "{name} is not a MemberCluster or Cluster of its own, which another one could be"
                " like",
                name=name,
            )
            raise FleetError([Problem(what, hint="name another member")])
        return fleet.members[name]

    def _key(self, key: str, model: Manifest | None, fleet: Supposed) -> str:
        if key != REGION:
            return key
        return (SelectableMembers((_as_member(model),)) if model else fleet.roster).meant(REGION)


@attrs.frozen
class ObjectReplacement(Supposition):
    """Objects instead of those with the same kind, namespace and name; others are added.

    Attributes:
        file: where they are from, to be named.
        manifests: the objects.
    """

    file: str
    manifests: tuple[Manifest, ...]

    def applied(self, fleet: Supposed) -> Supposed:
        """Replace them in their places, and add those that are new."""
        # Reversed, so that the first one counts of objects which the file has twice.
        new = {_identity(manifest): manifest for manifest in reversed(self.manifests)}
        known = {_identity(manifest) for manifest in fleet.manifests}
        kept = [new.get(_identity(manifest), manifest) for manifest in fleet.manifests]
        # Not from ``new``, so that an object which the file has twice is refused as always.
        added = [
            manifest
            for manifest in self.manifests
            if _identity(manifest) not in known or new[_identity(manifest)] is not manifest
        ]
        named = [
            f"{item.key} {'as in' if key in known else 'added from'} {self.file}"
            for key, item in new.items()
        ]
        return attrs.evolve(fleet, manifests=(*kept, *added)).saying(few(named[::-1]))


def _identity(manifest: Manifest) -> tuple[str, str, str, str]:
    """Return what is the same of an object in two files: a missing namespace is the default one."""
    key = manifest.key
    return key.group, key.kind, key.namespace or "default", key.name


def _as_member(manifest: Manifest) -> Cluster:
    """Return a member with what it is selected by."""
    spec = manifest.data.get("spec") or {}
    # Fields of Karmada's Cluster; a MemberCluster has neither.
    region, provider = spec.get("region") or "", spec.get("provider") or ""
    return Cluster(manifest.name, labels=manifest.labels, region=region, provider=provider)


def _only_form(fleet: Supposed) -> MemberForm:
    """Return the form that the members of a fleet have.

    Raises:
        FleetError: they have none, or both.
    """
    forms = {id(form): form for member in fleet.members.values() if (form := form_of(member))}
    if len(forms) == 1:
        return next(iter(forms.values()))
    kinds = " or ".join(kind for _, kind in FORMS)
    what = Message(
        "new-member-could-fleet",
        "a new member could be a {kinds}: the fleet has {verb}",
        kinds=kinds,
        verb="both" if forms else "neither",
    )
    raise FleetError([Problem(what, hint="say which member it is like: NAME:like=MEMBER")])


def _like(model: Manifest, form: MemberForm, name: str) -> Data:
    """Return a member like another one; of the metadata, only the labels are the same."""
    data = copy.deepcopy(dict(model.data))
    # Annotations and uid are those of the model alone.
    data["metadata"] = {"name": name, "labels": dict(model.labels)}
    return data
