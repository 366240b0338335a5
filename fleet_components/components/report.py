"""The report of a placement that only compares, and the warning about differences that are left as
they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import methodcaller
from typing import Any

import pulumi

from fleet_components.dynamic import REPORTED, Report
from fleet_components.live.comparison import WHOLE
from fleet_components.model.manifest import Manifest
from fleet_components.model.observed import FieldDifference, ObservedMember, ObservedObject
from fleet_components.model.text import count, few, visible

_SHOWN = 20
_DEGRADED = "FoundDiffInDegradedMode"


def report(
    who: str,
    found: pulumi.Output[ObservedMember | None],
    name: str,
    props: Mapping[str, Any],
    opts: pulumi.ResourceOptions,
) -> Report:
    """Register the report of a placement on a member, and tell what differs.

    Args:
        who: what messages call the placement on its member.
        found: what the member has said; None if it was not asked.
        name: name of the resource.
        props: what the resource says besides.
        opts: resource options.
    """
    fields: pulumi.Output[Mapping[str, Any]] = found.apply(_fields)
    kept = {field: fields.apply(methodcaller("get", field)) for field in REPORTED}
    made = Report(name, {**props, **kept}, opts)
    found.apply(lambda answer: _tell_report(who, answer, made))
    return made


def tell_drift(who: str, found: pulumi.Output[ObservedMember | None], on: pulumi.Resource) -> None:
    """Warn of objects that somebody has changed and that are left alone until their source
    changes.
    """

    def tell(answer: ObservedMember | None) -> None:
        if answer is None:
            return
        if answer.unreached:
            pulumi.log.warn(visible(f"{who} cannot be asked for drift: {answer.unreached}"), on)
        elif drifted := _unlike(answer):
            heading = f"{who}: found drifts, which are left alone until the source changes:"
            pulumi.log.warn("\n".join(map(visible, (heading, *_lines(drifted)))), on)

    found.apply(tell)


def _fields(found: ObservedMember | None) -> dict[str, Any]:
    """Return what a report keeps of a comparison; nothing if the member was not asked, or did not
    answer.
    """
    if found is None or found.unreached:
        return {}
    objects = found.objects.values()
    return {
        "differences": {
            str(item.key): _by_path(item.differences) for item in objects if item.differences
        },
        "failures": {str(item.key): item.error for item in objects if _fails(item)},
        "degraded": [str(item.key) for item in objects if item.compared == _DEGRADED],
    }


def _by_path(differences: Sequence[FieldDifference]) -> dict[str, Mapping[str, str]]:
    sides = (
        (difference.path, {"wanted": difference.wanted, "there": difference.there})
        for difference in differences
    )
    return {
        path: {side: text for side, text in both.items() if text is not None}
        for path, both in sides
    }


def _tell_report(who: str, found: ObservedMember | None, on: pulumi.Resource) -> None:
    if found is None:
        return
    if found.unreached:
        pulumi.log.warn(
            visible(
                f"{who} cannot be asked what differs: {found.unreached}; the last report stands"
            ),
            on,
        )
        return
    differing, objects = _unlike(found), count(len(found.objects), "object")
    heading = f"{who}: {len(differing)} of {objects} differ; nothing is written"
    pulumi.log.info(
        "\n".join(map(visible, (heading + (":" if differing else ""), *_lines(differing)))), on
    )


def _unlike(found: ObservedMember) -> list[ObservedObject]:
    """Return the objects that differ, or that could not be compared."""
    return [item for item in found.objects.values() if item.differences or _fails(item)]


def _fails(observed_object: ObservedObject) -> bool:
    """Return whether an object could not be compared; one that is not there is not wanting in
    anything else.
    """
    return bool(observed_object.error) and observed_object.differences != (WHOLE,)


def _lines(objects: Sequence[ObservedObject]) -> Iterator[str]:
    """Yield a line for each field that differs, and for each object that could not be compared."""
    lines = [line for item in objects for line in _of(item)]
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"and {len(lines) - _SHOWN} more"


def _of(observed_object: ObservedObject) -> Iterator[str]:
    for field in observed_object.differences:
        if field == WHOLE:
            yield f"{observed_object.key}: is not there"
            continue
        there = "(none)" if field.there is None else field.there
        wanted = "(none)" if field.wanted is None else field.wanted
        yield f"{observed_object.key}: {field.path}: {there}, wanted {wanted}"
    if _fails(observed_object):
        yield f"{observed_object.key}: cannot be compared: {observed_object.error}"


# The longest time that an update waits for each object to become ready, or to be gone.


_ANNOTATION = "pulumi.com/timeoutSeconds"
_WHOLE = re.compile("[0-9]{1,9}")


def ready_timeouts(data: Mapping[str, Any], seconds: int) -> pulumi.CustomTimeouts | None:
    """Return the timeouts of an object's resource; None if the object has an annotation of its own.

    A deletion waits until the finalizers of the object are gone. The engine takes its timeout from
    the state, so it counts once an update has recorded it.
    """
    # The provider reads the annotation only if the resource has no timeout
    # (pulumi/pulumi-kubernetes v4.34.2, provider/pkg/metadata/overrides.go, TimeoutDuration), for
    # deletions too.
    text = f"{seconds}s"
    own = _own(Manifest(data))
    return None if own else pulumi.CustomTimeouts(create=text, update=text, delete=text)


def waiting(objects: Iterable[Mapping[str, Any]], seconds: int) -> str:
    """Return the line that says how long an update waits for objects, those with a timeout of their
    own by name.
    """
    own = [
        f"{manifest.key} {text} s" for data in objects if (text := _own(manifest := Manifest(data)))
    ]
    return (
        f"waiting up to {seconds} s for each object to become"
        f" ready{f' ({few(own)})' if own else ''}"
    )


def _own(manifest: Manifest) -> str:
    """Return the seconds that an object's annotation sets; empty without one, and for what the
    provider ignores.
    """
    annotated = str((manifest.metadata.get("annotations") or {}).get(_ANNOTATION) or "")
    return annotated if _WHOLE.fullmatch(annotated) else ""
