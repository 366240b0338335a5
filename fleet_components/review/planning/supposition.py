"""Suppositions about a fleet: members lost, added or changed. Each changes the manifests in memory,
and says so.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import attrs

from fleet_components.model.cluster import Cluster, Taint
from fleet_components.model.manifest import Manifest, Origin
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.source import Source
from fleet_components.review.planning.member_form import FORMS, Data, MemberForm, form_of, section
from fleet_components.review.planning.selection import REGION, Roster, Selected

SUPPOSED = Origin("as supposed", None, lambda _: None)
"""Origin of an object that is in no file, since it is supposed only."""
_DECLARED = "change what declares it: --set KIND/NAME:FIELD=VALUE, or its edited file with --policy"


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
    def roster(self) -> Roster:
        """All members, to be selected."""
        return Roster((*map(_as_member, self.members.values()), *self.others))

    def saying(self, words: str) -> Supposed:
        """Return the fleet with a sentence about what was supposed."""
        return attrs.evolve(self, words=(*self.words, words))

    def with_changed(
        self, selected: Selected, change: Callable[[Manifest, MemberForm, Data], None]
    ) -> Supposed:
        """Return the fleet with some of its members changed.

        Args:
            selected: the members.
            change: changes the copy of a member's data.

        Raises:
            FleetError: one of them is not declared by an object of its own, or cannot be changed
                so.
        """
        missing = [name for name in selected.names if name not in self.members]
        if missing:
            what = Message(
                "member-not-membercluster-cluster",
                "member {missing} is not a MemberCluster or Cluster of its own",
                missing=missing[0],
            )
            raise FleetError([Problem(what, hint=_DECLARED)])
        changed: dict[str, Manifest] = {}
        for name in selected.names:
            member, data = self.members[name], copy.deepcopy(dict(self.members[name].data))
            form = form_of(member)
            assert form
            change(member, form, data)
            changed[name] = attrs.evolve(member, data=data)
        return attrs.evolve(
            self,
            manifests=tuple(
                changed.get(manifest.name, manifest) if form_of(manifest) else manifest
                for manifest in self.manifests
            ),
        )


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
        assert form
        data = _like(model, form, self.name) if model else form.new(self.name)
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
        return (Roster((_as_member(model),)) if model else fleet.roster).meant(REGION)


@attrs.frozen
class LabelChange(Supposition):
    """A label of members.

    Attributes:
        members: the members.
        key: the label.
        value: its new value; None if it is taken away.
    """

    members: str
    key: str
    value: str | None

    def applied(self, fleet: Supposed) -> Supposed:
        """Set it, or take it away where it is."""
        selected = fleet.roster.selected(self.members)
        if self.value is None:
            having = (name for name in selected.names if self.key in (_labels_of(fleet, name)))
            selected = _some(selected, having, f"no label {self.key}")
        words = f"label {self.key}" + ("" if self.value is None else f"={self.value}")
        how = "taken from" if self.value is None else "on"
        return fleet.with_changed(selected, self._change).saying(f"{words} {how} {selected.words}")

    def _change(self, member: Manifest, form: MemberForm, data: Data) -> None:
        labels = section(data, "metadata", "labels")
        if self.value is None:
            labels.pop(self.key, None)
        else:
            labels[self.key] = self.value


@attrs.frozen
class TaintChange(Supposition):
    """A taint of members, or the taking away of taints.

    Attributes:
        members: the members.
        taint: the taint; to be taken away, its key, and its effect if not empty.
        gone: True if it is taken away.
    """

    members: str
    taint: Taint
    gone: bool = False

    def applied(self, fleet: Supposed) -> Supposed:
        """Set it in the place of one with the same key and effect, or take it away where it is."""
        selected = fleet.roster.selected(self.members)
        if self.gone:
            having = (
                name for name in selected.names if any(map(self._is_it, _taints_of(fleet, name)))
            )
            selected = _some(selected, having, f"no taint {self._named}")
            return fleet.with_changed(selected, self._change).saying(
                f"taint {self._named} taken from {selected.words}"
            )
        return fleet.with_changed(selected, self._change).saying(
            f"taint {self._named} on {selected.words}"
        )

    def _change(self, member: Manifest, form: MemberForm, data: Data) -> None:
        spec = section(data, "spec")
        kept = [taint for taint in spec.get("taints") or () if not self._is_it(taint)]
        new = {"key": self.taint.key, "value": self.taint.value, "effect": self.taint.effect}
        spec["taints"] = (
            kept if self.gone else [*kept, {key: value for key, value in new.items() if value}]
        )

    def _is_it(self, data: Mapping[str, object]) -> bool:
        return data.get("key") == self.taint.key and self.taint.effect in ("", data.get("effect"))

    @property
    def _named(self) -> str:
        value = f"={self.taint.value}" if self.taint.value else ""
        return f"{self.taint.key}{value}" + (f":{self.taint.effect}" if self.taint.effect else "")


@attrs.frozen
class PropertyChange(Supposition):
    """A property of members, as a price, by which placements select and sort.

    Attributes:
        members: the members.
        name: the property.
        value: its new value.
    """

    members: str
    name: str
    value: str

    def applied(self, fleet: Supposed) -> Supposed:
        """Set it."""
        selected = fleet.roster.selected(self.members)
        words = f"{self.name} {self.value} on {selected.words}"
        return fleet.with_changed(selected, self._change).saying(words)

    def _change(self, member: Manifest, form: MemberForm, data: Data) -> None:
        form.set_property(member, data, self.name, self.value)


@attrs.frozen
class CapacityChange(Supposition):
    """Amounts of resources of members.

    Attributes:
        members: the members.
        amounts: the allocatable amount of each resource, or a change of it that begins with ``+``
            or ``-``.
    """

    members: str
    amounts: Mapping[str, str]

    def applied(self, fleet: Supposed) -> Supposed:
        """Set or change them."""
        selected = fleet.roster.selected(self.members)
        words = ", ".join(f"{resource} {amount}" for resource, amount in self.amounts.items())
        return fleet.with_changed(selected, self._change).saying(
            f"capacity of {selected.words}: {words}"
        )

    def _change(self, member: Manifest, form: MemberForm, data: Data) -> None:
        for resource, amount in self.amounts.items():
            form.set_amount(member, data, resource, amount)


def _as_member(manifest: Manifest) -> Cluster:
    """Return a member with what it is selected by."""
    spec = manifest.data.get("spec") or {}
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
    data["metadata"] = {"name": name, "labels": dict(model.labels)}
    return data


def _some(selected: Selected, having: Iterable[str], lacking: str) -> Selected:
    """Return those of the selected members that have something.

    Raises:
        FleetError: none has it.
    """
    names = tuple(having)
    if names:
        return attrs.evolve(selected, names=names)
    what = Message(
        "supposed-labels-missing",
        "{words} {verb} {lacking}",
        words=selected.words,
        verb="has" if len(selected.names) == 1 else "have",
        lacking=lacking,
    )
    raise FleetError(
        [Problem(what, hint="nothing would change; see the members as they are written")]
    )


def _labels_of(fleet: Supposed, name: str) -> Mapping[str, str]:
    return fleet.members[name].labels if name in fleet.members else {}


def _taints_of(fleet: Supposed, name: str) -> list[Mapping[str, object]]:
    found = fleet.members[name].data.get("spec") if name in fleet.members else None
    return list((found or {}).get("taints") or ())
