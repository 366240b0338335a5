"""Checks of what is delivered: what a member takes, and does not run as the source means it.

Hubs silently carry all of that out. Each check can be skipped by its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_components.content.catalogue import Catalogue
from fleet_components.content.difference import Difference
from fleet_components.content.references import Retired, produced, references, retired, scaled
from fleet_components.content.structure import Misfit, misfits
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import few, nearest
from fleet_components.option_values import SkippableCheck
from fleet_components.plan.departures import Departure, Fate
from fleet_components.plan.deviation import WrittenRule
from fleet_components.plan.subject import Decided

Members = set[str]
_DIGEST = "@sha256:"
_REPLICAS = "spec.replicas"


def unknown_checks(names: Iterable[str]) -> Iterator[Problem]:
    """Yield a problem for each name of a check to be skipped that no check has."""
    known = [str(check) for check in SkippableCheck]
    for name in sorted(set(names) - set(known)):
        meant = nearest(name, known)
        hint = f'did you mean "{meant}"?' if meant else f"the checks are: {', '.join(known)}"
        yield Problem(
            Message("no-check", 'there is no check "{name}"', name=name), ("skipChecks",), hint
        )


def checked(
    subjects: Iterable[Decided],
    departures: Iterable[Departure],
    catalogue: Catalogue,
    skipped: Collection[str],
    *,
    partial: bool = False,
) -> Iterator[Problem]:
    """Yield the warnings of all checks that are not skipped.

    Args:
        subjects: what is placed where.
        departures: what leaves members; what is kept there still serves.
        catalogue: the objects of the source.
        skipped: names of checks.
        partial: True if the source has only some objects of a hub: what it lacks may be there.
    """
    # What is only compared is written to no member.
    applied = [item for item in subjects if not item.subject.reports]
    contents = _contents(applied)
    if SkippableCheck.REFERENCES not in skipped:
        yield from _References(applied, contents, departures, catalogue, partial).missing()
    if SkippableCheck.AUTOSCALERS not in skipped:
        yield from _autoscaled(contents, catalogue)
    if SkippableCheck.DIGESTS not in skipped:
        yield from _without_digests(applied)
    if SkippableCheck.VERSIONS not in skipped:
        yield from _retired(contents, catalogue)
    if SkippableCheck.STRUCTURE not in skipped:
        yield from _misfitting(contents, catalogue)


class _Content(NamedTuple):
    """Objects that members get alike.

    Attributes:
        manifests: the objects.
        left_alone: fields that keep their values on the members.
        members: the members.
    """

    manifests: Sequence[Manifest]
    left_alone: tuple[str, ...]
    members: list[str]


def _contents(subjects: Iterable[Decided]) -> list[_Content]:
    """Return the distinct contents of deliveries, each with its members."""
    found: dict[tuple[int, tuple[str, ...]], _Content] = {}
    for decided in subjects:
        for member, delivery in decided.deliveries.items():
            # By identity: members share their content, which the deliveries keep alive.
            key = id(delivery.written), delivery.left_alone
            if key not in found:
                manifests = list(map(Manifest, delivery.written))
                found[key] = _Content(manifests, delivery.left_alone, [])
            found[key].members.append(member)
    return list(found.values())


class _References:
    """References of all objects, and what each member has by name."""

    def __init__(
        self,
        subjects: Sequence[Decided],
        contents: Iterable[_Content],
        departures: Iterable[Departure],
        catalogue: Catalogue,
        partial: bool,
    ) -> None:
        self._catalogue, self._partial = catalogue, partial
        self._there: dict[ObjectKey, Members] = defaultdict(set)
        self._needed: dict[tuple[ObjectKey, ObjectKey], Members] = defaultdict(set)
        for content in contents:
            for manifest in content.manifests:
                self._note(manifest, content.members)
        for decided in subjects:
            # What a hold keeps back goes there with a later update.
            held = decided.entries.keys() - decided.deliveries.keys()
            for manifest in map(Manifest, decided.subject.objects if held else ()):
                self._there[manifest.key].update(held)
        for item in departures:
            if item.fate is Fate.KEPT:
                self._there[item.key].add(item.cluster)

    def _note(self, manifest: Manifest, members: Iterable[str]) -> None:
        for key in (manifest.key, *produced(manifest)):
            self._there[key].update(members)
        for needed in references(manifest):
            self._needed[manifest.key, needed].update(members)

    def missing(self) -> Iterator[Problem]:
        """Yield a warning for each object and the members that lack some of what it needs."""
        found: dict[tuple[ObjectKey, tuple[str, ...], bool], list[ObjectKey]] = defaultdict(list)
        for (key, needed), members in self._needed.items():
            lacking = tuple(sorted(members - self._there.get(needed, set())))
            # An observed source is not all that the hub has: what it does not show may be there.
            known = self._catalogue.get(needed) is not None
            if lacking and (known or not self._partial):
                found[key, lacking, known].append(needed)
        # One warning for all that an object needs and the same members lack.
        for (key, lacking, known), keys in sorted(found.items()):
            yield self._problem(key, lacking, keys, known)

    def _problem(
        self, key: ObjectKey, members: Sequence[str], needed: Sequence[ObjectKey], known: bool
    ) -> Problem:
        where = few(members)
        listed = few([str(item) for item in needed])
        many = "it is" if len(needed) == 1 else "they are"
        if known:
            what = Message(
                "needs-object-not-placed",
                "needs {listed}, which {do} not go to {where}",
                listed=listed,
                do="does" if len(needed) == 1 else "do",
                where=where,
            )
            hint = "place what it needs where it goes"
        else:
            what = Message(
                "needs-object-not-in-source",
                "needs {listed}, which {are} not in the source; it goes to {where}",
                listed=listed,
                are="is" if len(needed) == 1 else "are",
                where=where,
            )
            hint = f"add {'it' if len(needed) == 1 else 'them'} to the source"
        skip = f"{hint}; if {many} there already, skip the check {SkippableCheck.REFERENCES}"
        return _problem(self._catalogue, key, what, skip)


def _autoscaled(contents: Iterable[_Content], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a warning for each autoscaler of a workload whose replicas the source sets too."""
    scalers: dict[tuple[ObjectKey, ObjectKey], Members] = defaultdict(set)
    replicas: dict[ObjectKey, Members] = defaultdict(set)
    for content in contents:
        for manifest in content.manifests:
            target = scaled(manifest)
            if target:
                scalers[target, manifest.key].update(content.members)
            # Replicas that are left alone are the autoscaler's already.
            elif _REPLICAS not in content.left_alone and _sets_replicas(manifest):
                replicas[manifest.key].update(content.members)
    hint = "leave spec.replicas out of the source, since each change of the workload sets it back"
    hint = f"{hint}; or skip the check {SkippableCheck.AUTOSCALERS}"
    for (target, key), members in sorted(scalers.items()):
        both = sorted(members & replicas.get(target, set()))
        if both:
            what = Message(
                "scales-whose-replicas-source",
                "scales {target} on {both}, whose replicas the source sets as well",
                target=target,
                both=few(both),
            )
            yield _problem(catalogue, key, what, hint)


def _sets_replicas(manifest: Manifest) -> bool:
    return value_at(manifest.data, _REPLICAS.split(".")) is not None


def _problem(
    catalogue: Catalogue, key: ObjectKey, what: Message, hint: str, path: FieldPath = ()
) -> Problem:
    manifest = catalogue.get(key)
    return manifest.problem(what, path, hint) if manifest else Problem(what, path, hint, str(key))


def _without_digests(subjects: Iterable[Decided]) -> Iterator[Problem]:
    """Yield a warning for each rule of an override that takes the digest off an image."""
    for decided in subjects:
        # What overrides change is costly to find, and few images have a digest.
        if not any(map(_has_digest, decided.subject.objects)):
            continue
        # Members on which the same rule does the same share a warning.
        found: dict[tuple[WrittenRule, ObjectKey, str], Members] = defaultdict(set)
        for member, placed in decided.record.decisions.items():
            # None where the state hides the objects: then nothing is known of images.
            changed = decided.subject.deviations(decided.record, member, placed) or ()
            for key, item in ((each.key, item) for each in changed for item in each.fields):
                if _drops_digest(item.difference):
                    found[item.rule, key, str(item.difference.new)].add(member)
        manifests = {str(item.key): item for item in decided.subject.override_manifests}
        for (rule, key, image), members in found.items():
            what = Message(
                "takes-digest-off-image",
                "takes the digest off an image of {key} on {members}: {image}",
                key=key,
                members=few(sorted(members)),
                image=image,
            )
            hint = f"override the digest too, or skip the check {SkippableCheck.DIGESTS}"
            manifest = manifests.get(rule.override)
            if manifest:
                path = decided.subject.rule_path(manifest, rule.position)
                yield manifest.problem(what, path, hint)
            else:
                # It has been taken out of the source, and still counts for what stands.
                yield Problem(what, (), hint, rule.override)


def _drops_digest(item: Difference) -> bool:
    return (
        item.path[-1:] == ("image",) and _DIGEST in str(item.old) and _DIGEST not in str(item.new)
    )


def _retired(contents: Iterable[_Content], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a warning for each object of a version that is served no more."""
    found: dict[tuple[ObjectKey, str, Retired], Members] = defaultdict(set)
    for content in contents:
        for manifest in content.manifests:
            known = retired(manifest)
            if known:
                found[manifest.key, manifest.api_version, known].update(content.members)
    for (key, version, known), those in found.items():
        lacking = f"Kubernetes {known.release} and later do not serve {version} {key.kind}"
        hint = f"{known.hint}; if the members are older, skip the check {SkippableCheck.VERSIONS}"
        what = Message(
            "it-goes-to", "{lacking}; it goes to {those}", lacking=lacking, those=few(sorted(those))
        )
        yield _problem(catalogue, key, what, hint, ("apiVersion",))


def _misfitting(contents: Iterable[_Content], catalogue: Catalogue) -> Iterator[Problem]:
    """Yield a warning for each field that is not what its kind has there."""
    found: dict[tuple[ObjectKey, Misfit], Members] = defaultdict(set)
    for content in contents:
        for manifest in content.manifests:
            for misfit in misfits(manifest.data):
                found[manifest.key, misfit].update(content.members)
    for (key, misfit), those in found.items():
        what = Message(
            "needs-on-member",
            "{words}: {those} {verb} it",
            words=misfit.words,
            those=few(sorted(those)),
            verb="refuses" if len(those) == 1 else "refuse",
        )
        hint = f"if it is newer than Kubernetes 1.36, skip the check {SkippableCheck.STRUCTURE}"
        # A wrong type is wrong in any release; an unknown field may be of a later one.
        yield _problem(catalogue, key, what, "" if misfit.expected else hint, misfit.path)


def _has_digest(data: Mapping[str, Any]) -> bool:
    return _DIGEST in str(data)
