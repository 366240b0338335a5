"""Read a fleet from YAML, Helm charts, kustomizations or objects: members, policies, and the
objects to place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import attrs

from fleet_components.admission import Existing, admit, misnamed, workload
from fleet_components.content.catalogue import Catalogue
from fleet_components.content.custom_kinds import CustomKinds
from fleet_components.content.declared import misplaced, names_a_build
from fleet_components.content.envelope import is_envelope, unwrap
from fleet_components.content.files import Text
from fleet_components.content.load import named, readable
from fleet_components.model.cluster import Cluster, serving_both
from fleet_components.model.kinds import BUILT_IN, BUILT_IN_GROUPS
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, shape_of
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.model.reader import GROUP, meant_kind, misdeclared, present
from fleet_components.model.releases import Releases
from fleet_components.model.text import count, nearest
from fleet_components.model.watch import Watch, unwatched
from fleet_components.plan.effects import unheeded
from fleet_components.plan.given import Given
from fleet_components.plan.status import misread, unread
from fleet_components.plan.ways import is_for_hub
from fleet_components.systems.karmada.model.application_health import ApplicationHealth, read_health
from fleet_components.systems.karmada.model.settings import KarmadaSettings, read_settings
from fleet_components.systems.kubefleet.model.placement import PLACEMENTS, Placement
from fleet_components.systems.registry import SYSTEMS

A = TypeVar("A")
T = TypeVar("T")
CARRIED_OUT = frozenset(
    kind for system in SYSTEMS.values() for kind in (*system.STEERING, *system.RULES, *system.JOBS)
)
"""Kinds of policies that this package carries out."""
MADE_BY_A_HUB = (
    "Snapshot",
    "Binding",
    "Work",
    "AppliedWork",
    "InternalMemberCluster",
    "Status",
    "ApprovalRequest",
)
"""Ends of the kinds of which a hub makes the objects for itself."""


@attrs.frozen
class Source:
    """A parsed fleet: members, policies, and the objects that can be placed.

    Attributes:
        clusters: the members.
        placements: the placements, by key.
        catalogue: the objects that can be placed.
        policies: every object that steers a hub, defaulted.
        settings: how the Karmada control plane would be set up.
        health: the applications that were observed to be Unhealthy.
        declarations: the manifests of the members, defaulted, by name.
        warnings: input that is accepted but probably not meant.
        not_carried_out: policies of kinds that this version does not carry out; a plan refuses
            them, or passes them over.
        problems: what could not be read or would be refused; the other attributes are as if it
            were absent.
        given: the input.
    """

    clusters: tuple[Cluster, ...]
    placements: tuple[Placement, ...]
    catalogue: Catalogue
    policies: tuple[Manifest, ...]
    settings: KarmadaSettings = KarmadaSettings()
    health: tuple[ApplicationHealth, ...] = ()
    declarations: Mapping[str, Manifest] = attrs.field(factory=dict)
    warnings: tuple[Problem, ...] = ()
    not_carried_out: tuple[Manifest, ...] = ()
    problems: tuple[Problem, ...] = ()
    given: Given = Given()

    def with_objects(self, manifests: Iterable[Manifest]) -> Source:
        """Return the source with more objects; policies of both inputs select from the objects of
        both.
        """
        more = tuple(manifests)
        if not more:
            return self
        return gathered(attrs.evolve(self.given, manifests=(*self.given.manifests, *more)))

    def for_hub(self) -> Source:
        """Return the source of a fleet that a hub carries out: what only that does is refused
        nowhere.
        """
        return self if self.given.hub else self._again(attrs.evolve(self.given, hub=True))

    def under(self, releases: Releases) -> Source:
        """Return the source as other releases check it."""
        same = self.given.releases == releases
        return self if same else self._again(attrs.evolve(self.given, releases=releases))

    def in_subscription(self, subscription: str) -> Source:
        """Return the source with the subscription of members whose declaration names none."""
        same = self.given.subscription == subscription
        return self if same else self._again(attrs.evolve(self.given, subscription=subscription))

    def _again(self, given: Given) -> Source:
        """Return the source read from other input; what was added to this one stays."""
        # What the same input does not give when it is gathered again was added afterwards.
        found, known = gathered(given), gathered(self.given)
        more = tuple(item for item in self.problems if item not in known.problems)
        warnings = tuple(item for item in self.warnings if item not in known.warnings)
        return attrs.evolve(
            found, problems=layered(more, found.problems), warnings=(*found.warnings, *warnings)
        )

    def sound(self) -> Source:
        """Return the source itself if it has no problems.

        Raises:
            FleetError: something could not be read, or would be refused.
        """
        if self.problems:
            raise FleetError(self.problems)
        return self

    def policy(self, kind: str, namespace: str, name: str) -> Manifest:
        """Return the policy of that kind, namespace and name, with defaults filled in. It must
        exist.
        """
        return self.by_name[kind, namespace, name]

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str, str], Manifest]:
        """The policies by kind, namespace and name."""
        return {
            (policy.kind, policy.namespace, policy.name): policy
            # Reversed, so that the first of several counts.
            for policy in reversed(self.policies)
        }

    @property
    def origins(self) -> Mapping[ObjectKey, Origin]:
        """Where the objects are written, those in envelopes included; an object of its own comes
        first.
        """
        return {
            item.key: item.origin
            # The last entry of a key wins, so that objects of their own come after the contents.
            for item in (*self._contents, *self.catalogue.manifests)
            if item.origin
        }

    @cached_property
    def _contents(self) -> Sequence[Manifest]:
        """The contents of all envelopes that can be opened."""
        envelopes = filter(is_envelope, self.catalogue.manifests)
        # The list of problems is dropped: the placement that selects the envelope reports them.
        return [item for envelope in envelopes for item in collected([], unwrap, envelope) or ()]

    @cached_property
    def definitions(self) -> Catalogue:
        """The definitions of custom kinds, those in envelopes included."""
        every = (*self.catalogue.manifests, *self._contents)
        return Catalogue(tuple(item for item in every if item.kind == "CustomResourceDefinition"))

    @cached_property
    def custom(self) -> CustomKinds:
        """The custom kinds that its definitions define."""
        return CustomKinds.of(self.definitions.manifests)


AnySource = str | Path | Sequence[str | Path] | Source
"""A fleet as callers may give it: a source, or one or more paths to read it from."""


def read_source(*paths: str | Path, kubefleet: str = "", karmada: str = "") -> Source:
    """Read a fleet from files and directories of YAML, from Helm charts and from kustomizations.

    Args:
        paths: files and directories. The directory of a chart or kustomization stands for the
            output of ``helm template`` or ``kustomize build``.
        kubefleet: the release of KubeFleet that checks them, as ``FleetArgs.kubefleet`` names it.
        karmada: that of Karmada, as ``FleetArgs.karmada`` names it.

    Raises:
        FleetError: something cannot be read, or the real API servers would refuse it; carries all
            problems at once.
    """
    return gather(*paths, releases=Releases.named(kubefleet, karmada)).sound()


def source_from(given: AnySource) -> Source:
    """Return a given source unchanged, or read one from paths, as far as they can be read.

    Raises:
        FleetError: there is no path.
    """
    if isinstance(given, Source):
        return given
    paths = [given] if isinstance(given, str | Path) else list(given)
    # An empty path would stand for the working directory.
    if not paths or "" in paths:
        raise FleetError(
            [
                Problem(
                    Message("names-no-file-no", "names no file and no directory"),
                    ("source",),
                    'for example "fleet/"',
                )
            ]
        )
    return gather(*paths)


def source_of(
    manifests: Iterable[Manifest],
    warnings: Iterable[Problem] = (),
    *,
    kubefleet: str = "",
    karmada: str = "",
) -> Source:
    """Return the fleet that the given objects describe.

    Args:
        manifests: the objects.
        warnings: warnings from reading them.
        kubefleet: as for :func:`read_source`.
        karmada: likewise.

    Raises:
        FleetError: as for :func:`read_source`.
    """
    releases = Releases.named(kubefleet, karmada)
    return gathered(Given(tuple(manifests), tuple(warnings), releases=releases)).sound()


def gather(
    *sources: str | Path | Text,
    build: bool = True,
    hub: bool = False,
    watch: Watch = unwatched,
    releases: Releases = Releases(),
) -> Source:
    """Read a fleet like :func:`read_source`, as far as possible; problems are in ``problems`` and
    prevent a plan.

    Without ``build`` charts and kustomizations, which programs build, are such problems. With
    ``hub`` a hub carries the fleet out.
    """
    problems, warnings = list[Problem](), list[Problem]()
    # As far as possible: one file that cannot be read does not hide the problems of others.
    manifests = readable(sources, problems, warnings, build=build, watch=watch)
    paths = tuple(str(item) for item in sources if not isinstance(item, Text))
    location = ", ".join(map(named, sources))
    return gathered(
        Given(manifests, tuple(warnings), tuple(problems), location, paths, hub, releases)
    )


def gathered(given: Given) -> Source:
    """Return a source like :func:`source_of`, from the objects that could be read."""
    # Every step adds to the problems and passes on what it could read, so that one run
    # reports all of them.
    # The first layer: other problems may only follow from these.
    unreadable = list(given.unread)
    parts = Catalogue.of(given.manifests, unreadable).split()
    problems = [
        misplaced(manifest) for manifest in parts.objects.manifests if names_a_build(manifest)
    ]
    # All objects: webhooks look up others, whichever system they are of.
    context = Existing((*parts.members, *parts.policies, *parts.objects.manifests), given.releases)
    declarations = _admitted(parts.members, context, problems)
    # A misspelt kind is reported, though it may end like one that hubs make.
    steering = [
        policy for policy in parts.policies if misnamed(policy) or not _made_by_a_hub(policy)
    ]
    others = tuple(policy for policy in steering if _is_beyond_us(policy))
    policies = _admitted(
        [policy for policy in steering if not _is_beyond_us(policy)], context, problems
    )
    envelopes = [manifest for manifest in parts.objects.manifests if is_envelope(manifest)]
    # One that cannot be unwrapped is refused by the placement that selects it.
    wrapped = {
        item.key: collected([], unwrap, item) or ()
        for item in _admitted(envelopes, context, problems)
    }
    problems += _declared_twice(declarations)
    written = {member.name: member for member in reversed(declarations)}
    problems += _of_no_system(parts.objects)
    clusters = [collected(problems, _cluster, member) for member in declarations]
    declared = _of_guests(parts.objects.manifests, given.subscription, policies, problems)
    settings = collected(problems, read_settings, parts.objects.manifests) or KarmadaSettings()
    objects = _readable(parts.objects, wrapped, settings, problems)
    health = collected(problems, read_health, parts.objects.manifests) or ()
    problems += [
        _listed_too(written[cluster.name]) for cluster in declared if cluster.name in written
    ]
    carried_out = [
        policy for policy in parts.policies if not _is_beyond_us(policy) or _made_by_a_hub(policy)
    ]
    refused, warnings = unheeded(
        (*parts.members, *carried_out, *envelopes),
        settings,
        hub=partial(is_for_hub, default=given.hub),
    )
    problems += refused
    warnings += [problem for member in declarations for problem in unread(member)]
    warnings += _of_a_hub(parts.policies)
    warnings += _of_no_kind(objects, chain(objects.manifests, *wrapped.values()))
    placements = tuple(
        Placement.from_manifest(policy) for policy in policies if policy.kind in PLACEMENTS
    )
    everyone: Sequence[Cluster] = (*filter(None, clusters), *declared)
    for system in SYSTEMS.values():
        # A member serves both systems, so that each adapts all of them to its release.
        everyone = system.as_scheduled(everyone, given.releases)
    # Of several members with one name the first counts; the others are among the problems.
    first = {cluster.name: cluster for cluster in reversed(everyone)}
    return Source(
        tuple(cluster for cluster in everyone if cluster is first[cluster.name]),
        placements,
        objects,
        tuple(policies),
        settings,
        health,
        written,
        (*given.warnings, *warnings),
        others,
        layered(unreadable, problems),
        given,
    )


def _admitted(
    manifests: Iterable[Manifest], context: Existing, problems: list[Problem]
) -> list[Manifest]:
    """Return the objects as the API servers would store them; refusals are added to the
    problems.
    """
    admitted = [admit(manifest, context=context) for manifest in manifests]
    problems += [problem for admission in admitted for problem in admission.problems]
    return [admission.defaulted for admission in admitted if not admission.problems]


def _readable(
    objects: Catalogue,
    wrapped: Mapping[ObjectKey, Sequence[Manifest]],
    settings: KarmadaSettings,
    problems: list[Problem],
) -> Catalogue:
    """Return the objects whose values can be read, contents of envelopes included; problems of
    the others are added.
    """
    kept = []
    for manifest in objects.manifests:
        contents = wrapped.get(manifest.key, (manifest,))
        wrong = [
            item for it in contents for item in workload.misread(it, shape_of(it, settings.shapes))
        ]
        problems += wrong
        kept += [] if wrong else [manifest]
    return attrs.evolve(objects, manifests=tuple(kept))


def _cluster(member: Manifest) -> Cluster:
    problems = misread(member)
    if problems:
        raise FleetError(problems)
    # A catalogue counts only these kinds as members.
    system = next(system for system in SYSTEMS.values() if system.MEMBER[1] == member.kind)
    try:
        return serving_both(system.read_member(member.data))
    except ValueError as error:
        raise FleetError(
            [member.problem(Message("other-error", "{reason}", reason=error), ("status",))]
        ) from error


def _of_guests(
    manifests: Iterable[Manifest],
    subscription: str,
    policies: Iterable[Manifest],
    problems: list[Problem],
) -> tuple[Cluster, ...]:
    """Return the members that guests declare; problems of these, and of policies for them, are
    added.
    """
    found: list[Cluster] = []
    for guest in present(manifests):
        clusters = (
            collected(problems, partial(guest.clusters, subscription=subscription), manifests) or ()
        )
        problems += [problem for policy in policies for problem in guest.problems(policy, clusters)]
        found += clusters
    return tuple(found)


def _of_no_system(objects: Catalogue) -> Iterator[Problem]:
    """Yield problems of policies, members and declarations with a wrong kind or apiVersion.

    They would pass for objects to place, and have no effect.
    """
    for manifest in objects.manifests:
        # A kind that the source defines in another group is an API of its user, and not misspelt.
        if names_a_build(manifest) or (
            manifest.group != GROUP and objects.defines(manifest.group, manifest.kind)
        ):
            continue
        yield from tuple(misdeclared(manifest)) or misnamed(manifest)


def _of_no_kind(objects: Catalogue, manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield problems of objects in Kubernetes' own groups whose kind does not exist; API servers
    refuse them.
    """
    for manifest in manifests:
        unknown = (
            manifest.group in BUILT_IN_GROUPS
            and objects.kind(manifest.group, manifest.kind) is None
        )
        if unknown and not meant_kind(manifest):  # that of a declaration is refused already
            known = [kind for group, kind in BUILT_IN if group == manifest.group]
            near = nearest(manifest.kind, known)
            hint = f"write kind: {near}" if near else "see kubectl api-resources of the members"
            what = Message(
                "kubernetes-no-kind",
                "Kubernetes 1.36 has no kind {kind} in {api_version}",
                kind=manifest.kind,
                api_version=manifest.api_version,
            )
            yield manifest.problem(what, ("kind",), hint)


def _declared_twice(members: Iterable[Manifest]) -> Iterator[Problem]:
    first: dict[str, Manifest] = {}
    for member in members:
        known = first.setdefault(member.name, member)
        if known is not member:
            what = Message(
                "member-declared-too", "the member is declared as {kind} too", kind=known.kind
            )
            yield member.problem(
                what, ("metadata", "name"), "keep one of the two: it serves both systems"
            )


def _listed_too(member: Manifest) -> Problem:
    return member.problem(
        Message("member-list-members-too", "the member is in a list of members too"),
        ("metadata", "name"),
        "keep one of the two",
    )


def collected(problems: list[Problem], read: Callable[[A], T], value: A) -> T | None:
    """Return what is read of a value; None if it cannot be read, with the problems added."""
    try:
        return read(value)
    except FleetError as error:
        problems += error.problems
        return None


def _made_by_a_hub(policy: Manifest) -> bool:
    return policy.kind.endswith(MADE_BY_A_HUB)


def _is_beyond_us(policy: Manifest) -> bool:
    """Return whether the kind exists but is not carried out by this version."""
    return policy.kind not in CARRIED_OUT and not misnamed(policy)


def _is_answer(policy: Manifest) -> bool:
    """Return whether an object that a hub makes says what somebody has answered."""
    return any(system.is_answer(policy) for system in SYSTEMS.values())


def _of_a_hub(policies: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield a warning for each kind of object in an export that hubs make: their number, and the
    first location.
    """
    found: dict[str, list[Manifest]] = {}
    for policy in (item for item in policies if _made_by_a_hub(item) and not _is_answer(item)):
        found.setdefault(policy.kind, []).append(policy)
    for kind, made in found.items():
        what = Message("made-hub-passed-over", "made by a hub, passed over")
        yield attrs.evolve(made[0].problem(what), subject=count(len(made), f"{kind} object"))
