"""Adoption of drift: what somebody has changed on members, written into the source for a pull
request.
"""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.insertion import UnwritableError
from fleet_components.content.restoration import restored, written
from fleet_components.content.secret import is_secret, secret_fields
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.text import few
from fleet_components.plan.names import TEMPLATE_KIND
from fleet_components.plan.source import Source
from fleet_components.plan.standing import Standing
from fleet_components.review.planning.drift import Delivered, Drift
from fleet_components.review.planning.edit import Drafts, FileEdit, edited, written_in
from fleet_components.review.planning.survey import (
    CommandLine,
    Survey,
    gathered_from,
    survey_source,
)

_IN_PROGRAM = "give the objects there what members have"
_OVERRIDES = (
    "ClusterResourceOverride",
    "ResourceOverride",
    "ClusterOverridePolicy",
    "OverridePolicy",
)
_FIXED = ("apiVersion", "kind")
Steps = tuple[str, ...]


@attrs.frozen
class Adoption:
    """Drift that is written into the source.

    Attributes:
        edits: the files that change.
        by_hand: what no file can be changed for, by member and object, with the reason.
        survey: the plan of the changed source.
    """

    edits: tuple[FileEdit, ...]
    by_hand: Mapping[str, str]
    survey: Survey


@attrs.frozen
class _LiveChange:
    """A field that somebody has changed.

    Attributes:
        path: the field.
        value: the value on the member; None if it has none.
    """

    path: Steps
    value: Any

    def __str__(self) -> str:
        return "/" + "/".join(self.path)


def adopt(found: Drift, paths: Sequence[Path], command: CommandLine) -> Adoption:
    """Return what gives the source the values of members, without writing anything.

    A change that all members have which run an object is written into the object, others into
    overrides.

    Args:
        found: the drift.
        paths: files and directories of a fleet, or a Pulumi project whose ``fleet:source`` names
            them.
        command: the options of the command line, with the state.

    Raises:
        FleetError: the source or the options cannot be used, or there is no plan of the changed
            source.
    """
    paths, command = written_in(paths, command, _IN_PROGRAM)
    with command.together():
        source = gathered_from(paths, command)
        adopter = _Adopter(source, Drafts(paths), found)
        adopter.adopt(command)
        after = survey_source(edited(source, adopter.drafts.edits), paths, command)
    return Adoption(adopter.drafts.edits, adopter.by_hand, after)


class _Adopter:
    """Writes the changes of all objects into the files of a source."""

    def __init__(self, source: Source, drafts: Drafts, found: Drift) -> None:
        self.source, self.drafts, self.found = source, drafts, found
        self.by_hand: dict[str, str] = {}
        self.manifests = {manifest.key: manifest for manifest in source.given.manifests}

    def adopt(self, command: CommandLine) -> None:
        """Write what can be written; the rest is named in :attr:`by_hand`."""
        running: dict[tuple[str, str, ObjectKey], list[Delivered]] = defaultdict(list)
        for item in self.found.objects:
            running[item.member.fleet, item.standing.subject, item.standing.key].append(item)
        standing = {fleet: command.state.past(fleet).standing for fleet in command.state.fleets}
        # From the end of the files: a change moves the lines below it.
        for key in sorted(running, key=lambda key: self._line(key[2]), reverse=True):
            if any(delivered.differences for delivered in running[key]):
                everywhere = [
                    each for each in standing[key[0]] if (each.subject, each.key) == key[1:]
                ]
                self._adopt(running[key], everywhere)

    def _line(self, key: ObjectKey) -> int:
        manifest = self.manifests.get(key)
        return (manifest.origin.line or 0) if manifest and manifest.origin else 0

    def _adopt(self, objects: Sequence[Delivered], everywhere: Sequence[Standing]) -> None:
        """Adopt the changes of one object of one placement."""
        changed = {
            item.standing.cluster: self._changes(item) for item in objects if item.differences
        }
        manifest = self.manifests.get(objects[0].standing.key)
        if manifest is None or not manifest.origin or not os.path.isfile(manifest.origin.file):
            self._leave(changed, objects, "no file holds the object as it is")
            return
        # Members that have the object, as far as the state knows, and that were not asked or did
        # not answer.
        unknown = {standing.cluster for standing in everywhere} - {
            item.standing.cluster for item in objects if not item.error
        }
        # changed is not empty: adopt comes here only if some member differs.
        shared = [
            change
            for change in next(iter(changed.values()))
            if all(change in found for found in changed.values())
        ]
        # A change in the object reaches all members, so all of them must be known to have it.
        shared = shared if len(changed) == len(everywhere) and not unknown else []
        if shared:
            self._in_place(manifest, shared, objects)
        rest = {
            name: [change for change in found if change not in shared]
            for name, found in changed.items()
        }
        rest = {name: found for name, found in rest.items() if found}
        if rest:
            self._override(manifest, rest, objects[0])

    def _changes(self, delivered: Delivered) -> list[_LiveChange]:
        """Return the changes of an object that can be adopted."""
        name = f"{delivered.standing.cluster}: {delivered.standing.key}"
        if delivered.missing:
            self.by_hand[name] = "was deleted; the next pulumi up --refresh makes it anew"
            return []
        there = delivered.there or {}
        hidden = secret_fields(there) | secret_fields(delivered.data)
        if is_secret(there) or hidden:
            self.by_hand[name] = "holds something secret, which is written into no file"
            return []
        found: list[_LiveChange] = []
        for each in delivered.differences:
            # In this order, as RFC 6901 has it: "~01" stands for "~1", not for a slash.
            path = tuple(
                step.replace("~1", "/").replace("~0", "~") for step in each.path[1:].split("/")
            )
            # An index means another item once the list has grown or shrunk: then the whole list is
            # written.
            path = _whole_list(path, delivered.data, there)
            change = _LiveChange(path, _at(there, path))
            if path[0] in _FIXED:
                self.by_hand[f"{name} {change}"] = "cannot be changed by hand or by a source"
            elif change not in found:
                found.append(change)
        return found

    def _leave(
        self, changed: Mapping[str, Sequence[_LiveChange]], objects: Sequence[Delivered], why: str
    ) -> None:
        for name, found in changed.items():
            for change in found:
                self.by_hand[f"{name}: {objects[0].standing.key} {change}"] = why

    def _in_place(
        self, manifest: Manifest, changes: Sequence[_LiveChange], objects: Sequence[Delivered]
    ) -> None:
        """Write changes into an object of the source."""
        assert manifest.origin
        data = copy.deepcopy(dict(manifest.data))
        for change in changes:
            # Writing the member's value there would undo a change that is on its way.
            if any(_newer(manifest.data, item.data, change.path) for item in objects):
                why = (
                    "the source has another value than was delivered: an override changes it, or it"
                    " is newer"
                )
                self._leave({"all members": [change]}, objects, why)
            else:
                _put(data, change)
        try:
            text = restored(self.drafts.text(manifest.origin.file), manifest, data)
            self.drafts.put(manifest.origin.file, text)
        except UnwritableError as error:
            why = f"cannot be changed in {manifest.origin.place}: {error}"
            self._leave({"all members": changes}, objects, why)

    def _override(
        self, manifest: Manifest, changed: Mapping[str, Sequence[_LiveChange]], delivered: Delivered
    ) -> None:
        """Add an override with what single members have."""
        assert manifest.origin
        key, subject = manifest.key, delivered.standing.subject
        # KubeFleet's webhook takes one override for an object; in Karmada, one could undo
        # what another one does.
        taken = [
            each
            for each in self.source.policies
            if each.kind in _OVERRIDES and _selects(each, manifest)
        ]
        if taken:
            why = (
                f"{few([f'{each.kind}/{each.name}' for each in taken])} changes the object already:"
                " write it there"
            )
            self._leave(changed, [delivered], why)
            return
        rules = []
        for name, found in changed.items():
            rule = (
                self._karmada_rule(name, found)
                if subject.startswith(TEMPLATE_KIND)
                else self._rule(name, found, delivered)
            )
            if rule:
                rules.append(rule)
        if not rules:
            return
        # Subjects of Karmada are templates, those of KubeFleet placements.
        karmada = subject.startswith(TEMPLATE_KIND)
        data = (_policy if karmada else _resource_override)(manifest, rules, subject)
        self.drafts.add(f"{data['metadata']['name']}.yaml", manifest.origin.file, written(data))
        assert key == delivered.standing.key

    def _karmada_rule(
        self, member: str, changes: Sequence[_LiveChange]
    ) -> Mapping[str, Any] | None:
        plaintext = [
            {"path": _pointer(path), "operator": op, **rest}
            for op, path, rest in self._steps(changes)
        ]
        return {"targetCluster": {"clusterNames": [member]}, "overriders": {"plaintext": plaintext}}

    def _rule(
        self, member: str, changes: Sequence[_LiveChange], delivered: Delivered
    ) -> Mapping[str, Any] | None:
        labels = self._labels(member)
        if not labels:
            why = "no label is this member's alone, by which an override could choose it"
            self._leave({member: changes}, [delivered], why)
            return None
        patches = [
            {"op": op, "path": _pointer(path), **rest} for op, path, rest in self._steps(changes)
        ]
        terms = [{"labelSelector": {"matchLabels": labels}}]
        return {"clusterSelector": {"clusterSelectorTerms": terms}, "jsonPatchOverrides": patches}

    def _steps(self, changes: Sequence[_LiveChange]) -> list[tuple[str, Steps, Mapping[str, Any]]]:
        return [
            (
                ("remove", change.path, {})
                if change.value is None
                else ("add", change.path, {"value": change.value})
            )
            for change in changes
        ]

    def _labels(self, member: str) -> Mapping[str, str]:
        """Return labels that only this member has; the fewest there are."""
        by_name = {cluster.name: dict(cluster.labels) for cluster in self.source.clusters}
        own = by_name.pop(member, {})
        # A single label is easier to read than all of them; sorted, so that each run writes the
        # same.
        for label, value in sorted(own.items()):
            if all(labels.get(label) != value for labels in by_name.values()):
                return {label: value}
        return {} if any(own.items() <= labels.items() for labels in by_name.values()) else own


def _whole_list(path: Steps, data: Mapping[str, Any], there: Mapping[str, Any]) -> Steps:
    """Return the path of the list itself, where it has got more or fewer items."""
    old: Any = data
    new: Any = there
    for place, step in enumerate(path):
        lists = [isinstance(value, list) for value in (old, new)]
        if any(lists) and not (all(lists) and len(old) == len(new)):
            return path[:place]
        old, new = _step(old, step), _step(new, step)
    return path


def _newer(source: Mapping[str, Any], delivered: Mapping[str, Any], path: Steps) -> bool:
    """Return whether a field of the source is another than was delivered."""
    return _whole_list(path, source, delivered) != path or _at(source, path) != _at(delivered, path)


def _step(value: Any, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step)
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return value[int(step)]
    return None


def _at(value: Any, path: Steps) -> Any:
    """Return a field of an object; None if it is not there."""
    for step in path:
        value = _step(value, step)
    return value


def _put(data: Any, change: _LiveChange) -> None:
    """Give a field of an object its value."""
    *above, last = change.path
    for step in above:
        if isinstance(data, list):
            data = data[int(step)]
        else:
            if data.get(step) is None:
                data[step] = {}
            data = data[step]
    if isinstance(data, list):
        data[int(last)] = change.value
    elif change.value is None:
        data.pop(last, None)
    else:
        data[last] = change.value


def _pointer(path: Steps) -> str:
    return "/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in path)


def _selects(override: Manifest, manifest: Manifest) -> bool:
    """Return whether an override may change an object: by its name, or by anything else than
    another name.
    """
    spec = override.data.get("spec") or {}
    fields = ("resourceSelectors", "clusterResourceSelectors")
    selectors = [item for field in fields for item in spec.get(field) or ()]
    if override.namespace and override.namespace != manifest.namespace:
        return False
    return not selectors or any(
        selector.get("kind") == manifest.kind and selector.get("name") in (None, "", manifest.name)
        for selector in selectors
    )


def _resource_override(manifest: Manifest, rules: Sequence[Any], subject: str) -> Mapping[str, Any]:
    group, _, version = manifest.api_version.rpartition("/")
    kind, _, key = subject.partition("/")
    selector = {"group": group, "version": version, "kind": manifest.kind, "name": manifest.name}
    field = "resourceSelectors" if manifest.namespace else "clusterResourceSelectors"
    placement = {"name": key.rpartition("/")[2]}
    # The default scope of an override is a placement of the cluster scope.
    if kind == "ResourcePlacement":
        placement["scope"] = "Namespaced"
    return {
        "apiVersion": "placement.kubernetes-fleet.io/v1",
        "kind": "ResourceOverride" if manifest.namespace else "ClusterResourceOverride",
        "metadata": _metadata(manifest),
        "spec": {
            "placement": placement,
            field: [selector],
            "policy": {"overrideRules": list(rules)},
        },
    }


def _policy(manifest: Manifest, rules: Sequence[Any], subject: str) -> Mapping[str, Any]:
    selector = {"apiVersion": manifest.api_version, "kind": manifest.kind, "name": manifest.name}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "OverridePolicy" if manifest.namespace else "ClusterOverridePolicy",
        "metadata": _metadata(manifest),
        "spec": {"resourceSelectors": [selector], "overrideRules": list(rules)},
    }


def _metadata(manifest: Manifest) -> Mapping[str, str]:
    # Names have at most 253 characters, and unlike those of roles no colons.
    name = f"adopted-{manifest.kind.lower()}-{manifest.name.replace(':', '-')}"[:250]
    return {"name": name, **({"namespace": manifest.namespace} if manifest.namespace else {})}
