"""Build the content of a template, which is the same for all members, and the object that each
member gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from fleet_components.content.stamp import annotated
from fleet_components.content.strip import as_sent
from fleet_components.model.codec import below, decode, encode, ranged
from fleet_components.model.manifest import Manifest, WorkloadShape, shape_of, value_at
from fleet_components.plan.record import Objects
from fleet_components.rollout.rollout import Done, Placed
from fleet_components.systems.karmada.content.replicas import with_replicas
from fleet_components.systems.karmada.model.override import OverrideSpec
from fleet_components.systems.karmada.model.settings import CustomWorkload

RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"
CONFLICT_RESOLUTION = "work.karmada.io/conflict-resolution"
_CUSTOM = "CustomWorkload"
_FORCE = "pulumi.com/patchForce"


@attrs.frozen(kw_only=True)
class Share(Placed):
    """The revision, replicas and completions that one member was sent of a template. There is one
    wave and no rank.

    Attributes:
        replicas: its replicas; None if they are not set for each member.
        completions: its completions of a Job that is divided, or written without any; None for
            everything else.
    """

    rank: int = attrs.field(default=0, metadata=ranged(0))
    wave: int = attrs.field(default=1, metadata=ranged(1))
    replicas: int | None = attrs.field(default=None, metadata=ranged(0))
    completions: int | None = attrs.field(default=None, metadata=ranged(0))

    def stands(self, done: Done) -> bool:
        """Return whether this is what runs on the member."""
        counted = self.replicas, self.completions
        return self.version == done.version and counted == (done.replicas, done.completions)

    @classmethod
    def of(cls, done: Done) -> Share:
        """Return the share that leads to what runs on a member."""
        # Revisions begin at 0, so -1 is none of them.
        revision = -1 if done.revision is None else done.revision
        return cls(
            revision=revision,
            replicas=done.replicas,
            completions=done.completions,
            overrides=done.overrides,
        )


def content_of(
    manifest: Manifest, workloads: Iterable[CustomWorkload] = (), *, divided: bool
) -> Objects:
    """Return the content of a template: the object, and the description of its kind if that is
    custom.

    Args:
        manifest: the template.
        workloads: the declared custom kinds.
        divided: True if the replicas are set for each member, and so are not part of the content.
    """
    data: Mapping[str, Any] = as_sent(manifest)
    stated = [_stated(workload) for workload in workloads if workload.describes(manifest)]
    shape = shape_in((data, *stated))
    if divided and shape and shape.replicas:
        data = _without(data, shape.replicas)
    return data, *stated


def is_custom(part: Any) -> bool:
    """Return whether a part of a content describes a custom kind."""
    return isinstance(part, Mapping) and part.get("kind") == _CUSTOM


def check_part(part: Mapping[str, Any]) -> None:
    """Check a part of a content other than the object.

    Raises:
        MisfitError: it does not describe a custom kind. The first versions kept override policies
            there too.
    """
    with below("spec"):
        decode(CustomWorkload if is_custom(part) else OverrideSpec, part.get("spec"))


def shape_in(content: Objects) -> WorkloadShape | None:
    """Return the workload shape of a content's object; None if it is not a workload."""
    # The object comes first, and its kind is the user's to choose.
    declared = (decode(CustomWorkload, part["spec"]) for part in content[1:] if is_custom(part))
    return shape_of(Manifest(content[0]), (workload.shape for workload in declared))


def shared(content: Objects, share: Share) -> Mapping[str, Any]:
    """Return the object with the replicas of a member's share, before overrides are applied.

    Source: karmada-io/karmada 1.19, pkg/controllers/binding/common.go, ensureWork.

    Args:
        content: the content of the share's revision.
        share: the member's share.
    """
    template, shape = content[0], shape_in(content)
    # If replicas are not divided, the content has them itself, unless they are not written.
    if (
        share.replicas is not None
        and shape
        and shape.replicas
        and value_at(template, shape.replicas) is None
    ):
        return with_replicas(Manifest(template), share.replicas, share.completions, [shape])
    return template


def forced(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the object with an annotation that takes over an existing object of the same name."""
    return annotated(data, {_FORCE: "true"})


def retained(content: Objects) -> tuple[str, ...]:
    """Return the fields whose values members keep: the replicas, if a label of the object asks
    for that.
    """
    asked = Manifest(content[0]).labels.get(RETAIN_REPLICAS) == "true"
    shape = shape_in(content) if asked else None
    return (".".join(shape.replicas),) if shape and shape.replicas else ()


def _stated(workload: CustomWorkload) -> Mapping[str, Any]:
    return {"kind": _CUSTOM, "spec": encode(workload)}


def _without(data: Any, path: tuple[str, ...]) -> Any:
    first, *rest = path
    if not isinstance(data, Mapping) or first not in data:
        return data
    if not rest:
        return {key: value for key, value in data.items() if key != first}
    return {**data, first: _without(data[first], tuple(rest))}
