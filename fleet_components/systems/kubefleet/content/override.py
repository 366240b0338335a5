"""Applies KubeFleet's overrides to the objects of a placement on their way to a member.

ClusterResourceOverrides are applied first, by name, then ResourceOverrides, by namespace and
name: what is applied last wins. An override that selects a Namespace applies to everything in it
as well.

An envelope is an object as others are: rules patch or delete it before it is opened, and select
nothing in it. In releases that open it before (``opens``) rules select, patch and delete what is in
it, and never the envelope.

Source: ``pkg/utils/overrider/overrider.go``, and ``override.go`` and ``envelope.go`` in
``pkg/controllers/workgenerator``, of KubeFleet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import attrs

from fleet_components.content.envelope import contents_of, is_envelope, unopened
from fleet_components.content.guarded import read_json
from fleet_components.content.overridden import (
    AppliedRule,
    Forms,
    Overridden,
    OverrideError,
    patched,
)
from fleet_components.content.patch import Operation
from fleet_components.content.revision import canonical
from fleet_components.content.secret import as_secret, holds_secret_text
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import decode, encode
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.systems.kubefleet.model.override import (
    CLUSTER_OVERRIDE,
    DELETE,
    JSONPatchOverride,
    OverrideRule,
    OverrideTarget,
    ResourceOverride,
)

_NAME = "${MEMBER-CLUSTER-NAME}"
_LABEL = "${MEMBER-CLUSTER-LABEL-KEY-"
_BEYOND = re.compile(r"[^-\w./]")
_VARIABLE = re.compile(re.escape(_LABEL) + "([^}]*)}")
_NAMESPACE = ("v1", "Namespace")
RULES = ("spec", "policy", "overrideRules")
"""Path of the rules in an override."""
_SPOILT = "makes an envelope that cannot be opened"
_HINT = "change the rule, or leave {cluster} out of its clusterSelector"


@attrs.frozen
class RuleInForce:
    """A rule that selects a member, with the member's values for its variables.

    Attributes:
        index: position in the override, from 0.
        deletes: True if it deletes the object.
        json_patch_overrides: its patch.
        fails: why its variables have no value, without what KubeFleet quotes of a value; empty if
            they have.
        logged: the same in KubeFleet's words, if they quote a value.
        patch: position of the operation that has them.
    """

    index: int
    deletes: bool = False
    json_patch_overrides: tuple[JSONPatchOverride, ...] = ()
    fails: str = ""
    logged: str = ""
    patch: int = 0


@attrs.frozen
class OverrideInForce:
    """An override that applies on a member, with what its effect depends on.

    Attributes:
        kind: its kind.
        name: its name.
        namespace: its namespace; empty for a ClusterResourceOverride.
        targets: the objects of the placement that it selects, and the namespaces of others.
        rules: its rules that select the member, in order; never empty.
        opens: True if it changes what is in envelopes, False if it changes envelopes.
    """

    kind: str
    name: str
    namespace: str = ""
    targets: tuple[OverrideTarget, ...] = ()
    rules: tuple[RuleInForce, ...] = ()
    opens: bool = False

    @property
    def key(self) -> str:
        """``Kind namespace/name``."""
        return str(ObjectKey("", self.kind, self.namespace, self.name))


def in_force(
    objects: Iterable[Mapping[str, Any]],
    cluster: Cluster,
    overrides: Iterable[ResourceOverride],
    placement: str,
    *,
    opens: bool = False,
) -> tuple[OverrideInForce, ...]:
    """Return the overrides that apply to objects on a member, in the order in which they are
    applied.

    Args:
        objects: the objects of a placement.
        cluster: the member.
        overrides: overrides of both kinds, in any order.
        placement: the placement, as ``name`` or ``namespace/name``.
        opens: True if overrides change what is in envelopes, False if they change envelopes.
    """
    ordered = sorted(overrides, key=_order)
    wanted = {target for override in ordered for target in override.targets}
    known = {
        target for _, _, targets in selected(objects, wanted, opens=opens) for target in targets
    }
    found = []
    for override in ordered:
        # Sorted, so that equal sets of targets are kept in the same form.
        targets = tuple(sorted(known.intersection(override.targets)))
        if targets and override.is_for(placement):
            manifest = override.manifest
            rules = tuple(_rules_in_force(override.spec.policy.override_rules, cluster))
            if rules:
                found.append(
                    OverrideInForce(
                        manifest.kind, manifest.name, manifest.namespace, targets, rules, opens
                    )
                )
    return tuple(found)


def _as_written(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data


def apply_overrides(
    objects: Sequence[Mapping[str, Any]],
    overrides: Sequence[OverrideInForce],
    cluster: str,
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_written,
) -> list[Overridden]:
    """Return what overrides make of each object.

    Args:
        objects: the objects.
        overrides: the overrides that apply, in order.
        cluster: name of the member, for messages.
        read: returns an object as the hub has it in a snapshot; as it was written by default.
    """
    by_target: dict[OverrideTarget, list[OverrideInForce]] = {}
    for override in overrides:
        for target in override.targets:
            by_target.setdefault(target, []).append(override)
    found = [Overridden(data) for data in objects]
    opens = any(override.opens for override in overrides)
    for position, data, targets in selected(objects, by_target.keys(), opens=opens):
        if opens and is_envelope(Manifest(data)):
            found[position] = _with_contents(data, by_target, cluster)
            continue
        # The targets of an object begin with those of ClusterResourceOverrides, which
        # ResourceOverrides win over.
        concerning = [override for target in targets for override in by_target[target]]
        found[position] = _overridden(Forms(data, read(data)), concerning, cluster)
    return found


def selected(
    objects: Iterable[Mapping[str, Any]], wanted: Set[OverrideTarget], *, opens: bool = False
) -> Iterator[tuple[int, Mapping[str, Any], tuple[OverrideTarget, ...]]]:
    """Yield the objects that are among what is wanted: position, object, and the names under
    which it is.

    With ``opens`` an envelope is under the names of what is in it.
    """
    # Most objects are of no concern, which their names alone show.
    names = {target.name for target in wanted}
    for position, data in enumerate(objects):
        metadata, manifest = data.get("metadata") or {}, Manifest(data)
        named = metadata.get("name") in names or metadata.get("namespace") in names
        if named or (opens and is_envelope(manifest)):
            targets = tuple(
                target for target in targets_of(manifest, opens=opens) if target in wanted
            )
            if targets:
                yield position, data, targets


def targets_of(manifest: Manifest, *, opens: bool = False) -> tuple[OverrideTarget, ...]:
    """Return the names under which overrides may select an object, or what is in an envelope if
    they open it.
    """
    if opens and is_envelope(manifest):
        return tuple(
            dict.fromkeys(
                target for _, inner in contents_of(manifest) for target in targets_of(inner)
            )
        )
    own = OverrideTarget(
        manifest.version, manifest.kind, manifest.name, manifest.group, manifest.namespace
    )
    if not manifest.namespace:
        return (own,)
    return OverrideTarget(*_NAMESPACE, manifest.namespace), own


def read_in_force(data: Any) -> OverrideInForce:
    """Read an override back from its wire form.

    Raises:
        MisfitError: it is not one.
    """
    return decode(OverrideInForce, data)


def write_in_force(override: OverrideInForce) -> dict[str, Any]:
    """Return the wire form of an override that applies."""
    wire: dict[str, Any] = encode(override)
    return wire


def label_variables(value: Any) -> Iterable[str]:
    """Return the keys of the member's labels that the value of a patch asks for."""
    return dict.fromkeys(_VARIABLE.findall(json.dumps(value, ensure_ascii=False)))


def has_variables(value: Any) -> bool:
    """Return whether the value of a patch asks for the member's name or labels."""
    return "${" in json.dumps(value, ensure_ascii=False)


def _order(override: ResourceOverride) -> tuple[bool, str, str]:
    manifest = override.manifest
    # False sorts first: ClusterResourceOverrides, which ResourceOverrides then win over.
    return manifest.kind != CLUSTER_OVERRIDE, manifest.namespace, manifest.name


def _rules_in_force(rules: Iterable[OverrideRule], cluster: Cluster) -> Iterator[RuleInForce]:
    """Yield the rules that select a member; none after one that deletes, which ends the rules of
    its override.
    """
    for index, rule in enumerate(rules):
        if not rule.applies_to(cluster):
            continue
        if rule.override_type == DELETE:
            yield RuleInForce(index, deletes=True)
            return
        yield _patch_in_force(index, rule, cluster)


def _patch_in_force(index: int, rule: OverrideRule, cluster: Cluster) -> RuleInForce:
    operations = []
    for patch, operation in enumerate(rule.json_patch_overrides):
        try:
            operations.append(_with_values(operation, cluster))
        except OverrideError as error:
            logged = "" if error.shown == str(error) else str(error)
            return RuleInForce(index, fails=error.shown, logged=logged, patch=patch)
    return RuleInForce(index, json_patch_overrides=tuple(operations))


def _with_values(operation: JSONPatchOverride, cluster: Cluster) -> JSONPatchOverride:
    """Return an operation with a member's name and labels in place of the variables in its value,
    in keys too.

    Raises:
        OverrideError: the member has no such label, or a variable does not end. KubeFleet's text
            quotes the value.
    """
    text = canonical(operation.value)
    if "${" not in text:
        return operation
    # In the JSON text, as in KubeFleet: names and values of labels have nothing to escape.
    named = text.replace(_NAME, cluster.name)
    # The text before the first variable, then one text that begins with each key.
    made, *others = named.split(_LABEL)
    for other in others:
        key, closed, rest = other.partition("}")
        if not closed:
            error = "is missing the closing bracket `}`"
            raise OverrideError(f"input {named} {error}", f"input {error}")
        if key not in cluster.labels:
            # A variable without an end goes on to the next bracket, through whatever else is in the
            # value.
            start = _BEYOND.split(key, maxsplit=1)[0]
            shown = key if start == key else f"{start}..."
            raise OverrideError(_absent(key, cluster), _absent(shown, cluster))
        made += cluster.labels[key] + rest
    value = read_json(made)
    return attrs.evolve(
        operation, value=as_secret(value) if holds_secret_text(operation.value) else value
    )


def _absent(key: str, cluster: Cluster) -> str:
    return f"label key {key} not found on cluster {cluster.name}"


def _overridden(forms: Forms, overrides: Iterable[OverrideInForce], cluster: str) -> Overridden:
    data = forms.written
    made: Forms | None = forms
    steps: list[AppliedRule] = []
    spoilt: Problem | None = None
    for override in overrides:
        for rule in override.rules:
            try:
                after = _applied(made, rule)
            except OverrideError as error:
                return Overridden(
                    None, _problem(data, override, rule, cluster, error), logged=str(error)
                )
            if made is not None:
                steps.append(
                    AppliedRule(
                        override.key, rule.index, made.written, after.written if after else None
                    )
                )
            made = after
            # An envelope is opened after all rules, so a later one may fix what an earlier one has
            # broken.
            why = unopened(Manifest(made.written)) if made is not None else ""
            broken = OverrideError(f"{_SPOILT}: {why}")
            # The rule that first broke the envelope is the one to report.
            spoilt = (spoilt or _problem(data, override, rule, cluster, broken)) if why else None
    return (
        Overridden(None, spoilt)
        if spoilt
        else Overridden(made.written if made else None, steps=tuple(steps))
    )


def _with_contents(
    envelope: Mapping[str, Any],
    by_target: Mapping[OverrideTarget, Sequence[OverrideInForce]],
    cluster: str,
) -> Overridden:
    """Return an envelope with what overrides make of its contents.

    No API server has stored the contents, so that rules see them as they are written.
    """
    made, steps = envelope, list[AppliedRule]()
    for key, inner in contents_of(Manifest(envelope)):
        concerning = [
            override for target in targets_of(inner) for override in by_target.get(target, ())
        ]
        done = _overridden(Forms.alike(inner.data), concerning, cluster)
        if done.problem:
            return done
        for step in done.steps:
            # A step of an envelope shows the envelope as a whole, not only the content that
            # changes.
            after = _with_content(made, key, step.data)
            steps.append(attrs.evolve(step, before=made, data=after))
            made = after
    why = unopened(Manifest(made)) if steps else ""
    if why:
        override, rule = _last(steps[-1], by_target)
        return Overridden(
            None, _problem(envelope, override, rule, cluster, OverrideError(f"{_SPOILT}: {why}"))
        )
    return Overridden(made, steps=tuple(steps))


def _last(
    step: AppliedRule, by_target: Mapping[OverrideTarget, Sequence[OverrideInForce]]
) -> tuple[OverrideInForce, RuleInForce]:
    """Return the override and the rule of a step."""
    overrides = (override for several in by_target.values() for override in several)
    # Both are found: the step was made by one of these overrides.
    override = next(override for override in overrides if override.key == step.override)
    return override, next(rule for rule in override.rules if rule.index == step.rule)


def _with_content(
    envelope: Mapping[str, Any], key: str, data: Mapping[str, Any] | None
) -> Mapping[str, Any]:
    """Return an envelope with another object under a key; without the key if that is None."""
    others = {name: item for name, item in envelope["data"].items() if name != key}
    return {**envelope, "data": others if data is None else {**envelope["data"], key: data}}


def _applied(forms: Forms | None, rule: RuleInForce) -> Forms | None:
    """Return the object after a rule; None if it is deleted. No patch brings it back, but
    variables may still fail.
    """
    if rule.fails:
        raise OverrideError(rule.logged or rule.fails, rule.fails, rule.patch)
    if forms is None or rule.deletes:
        return None
    return patched(
        forms, [Operation(item.op, item.path, item.value) for item in rule.json_patch_overrides]
    )


def _problem(
    data: Mapping[str, Any],
    override: OverrideInForce,
    rule: RuleInForce,
    cluster: str,
    error: OverrideError,
) -> Problem:
    what = Message(
        "fails-on-for",
        "fails on {cluster} for {key}: {shown}",
        cluster=cluster,
        key=Manifest(data).key,
        shown=error.shown,
    )
    patch = () if error.patch is None else ("jsonPatchOverrides", error.patch)
    return Problem(what, (*RULES, rule.index, *patch), _HINT.format(cluster=cluster), override.key)
