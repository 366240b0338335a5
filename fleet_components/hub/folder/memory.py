"""The decisions of a hub as files: the resources of
:func:`fleet_components.hub.observation.resources_of`, for people to read.

A file holds one subject: its record with contents as they are, and a line for each member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import attrs

from fleet_components.content.guarded import UnreadableError, read_json
from fleet_components.content.revision import compress, decompress
from fleet_components.hub.folder.form import lines
from fleet_components.model.codec import MisfitError, below
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan import names
from fleet_components.plan.standing import read_written
from fleet_components.plan.state import StoredResource
from fleet_components.plan.stored import Keeper

KEEPER = Keeper("local", "fleet")
"""Keeper of resources that are only to be written down."""
_OWN = ("key", "format", "fleet")
_OF_BINDING = (*_OWN, "subject", "cluster")
_MEMBERS, _DECISION, _DONE, _STANDS = "members", "decision", "done", "stands"
_MEMBER_FIELDS = frozenset((_DECISION, _DONE, _STANDS))
_FILE_FIELDS = frozenset(("subject", _MEMBERS, "contents"))
# Levels of maps that have a line for each entry, see ``lines``; -1 for all of them.
_SPREAD = {_MEMBERS: 1, "memory": 2, "digests": 1, "contents": -1}
_NO_OBJECT = Message("not-object-key", "is not apiVersion|Kind|namespace|name")


@attrs.define
class _Kept:
    """Decision of one subject, and its state on members."""

    outputs: Mapping[str, Any] = attrs.field(factory=dict)
    done: dict[str, Mapping[str, Any]] = attrs.field(factory=dict)
    stands: dict[str, list[str]] = attrs.field(factory=dict)


def memory_texts(resources: Iterable[StoredResource]) -> tuple[str, dict[str, str]]:
    """Return the text of the fleet, and the text of each subject, by ``Kind/key``.

    Args:
        resources: the resources, kept by :data:`KEEPER`.
    """
    roster: Mapping[str, Any] = {}
    subjects: dict[str, _Kept] = {}
    for resource in resources:
        urn, outputs = names.Urn.parse(resource.urn), resource.outputs
        match resource.type:
            case names.ROSTER:
                roster = _without(outputs, ("key", "fleet"))
            case names.PLACEMENT | names.TEMPLATE:
                subjects.setdefault(outputs["key"], _Kept()).outputs = _without(
                    outputs, ("key", "fleet")
                )
            case names.BINDING:
                kept = subjects.setdefault(outputs["subject"], _Kept())
                kept.done[outputs["cluster"]] = _without(outputs, _OF_BINDING)
            case names.MEMBER:
                continue  # says nothing that the roster does not
            case _:
                # KEEPER has named these resources, so all others are objects with a place.
                place = names.place_of(KEEPER.fleet, urn)
                assert place is not None
                kept = subjects.setdefault(_subject_of(urn, place.key), _Kept())
                written = _written(names.api_version_of(urn.type), place.object)
                kept.stands.setdefault(place.cluster, []).append(written)
    return lines(dict(sorted(roster.items())), dict.fromkeys(roster, 1)), {
        name: _text(name, kept) for name, kept in subjects.items()
    }


def roster_of(text: bytes, keeper: Keeper) -> Iterator[StoredResource]:
    """Yield the resources of the fleet and of its members from its text.

    Raises:
        MisfitError: the text is damaged.
    """
    outputs = _read(text)
    members = outputs.get(_MEMBERS)
    if not isinstance(members, Mapping):
        raise MisfitError(Problem(Message("not-map", "is not a map"), (_MEMBERS,)))
    yield keeper.roster(outputs)
    yield from map(keeper.member, members)


def subject_of(text: bytes, keeper: Keeper) -> Iterator[StoredResource]:
    """Yield the resources of one subject from its text.

    Args:
        text: the text.
        keeper: the stack and the fleet to be named.

    Raises:
        MisfitError: the text is damaged.
    """
    whole = _read(text)
    name = whole.get("subject")
    if not isinstance(name, str) or not names.is_subject(name):
        raise MisfitError(Problem(Message("names-no-subject", "names no subject"), ("subject",)))
    members = _map(whole.get(_MEMBERS), (_MEMBERS,))
    component = names.component_of(name)
    # ``_member`` checks the form of each line, on which the loop below relies.
    decisions = {m: item[_DECISION] for m, item in members.items() if _DECISION in _member(item, m)}
    contents = {
        key: _packed(kept, key) for key, kept in _map(whole.get("contents"), ("contents",)).items()
    }
    rest = {key: value for key, value in whole.items() if key not in _FILE_FIELDS}
    yield keeper.decided(component, name, {**rest, "decisions": decisions, "contents": contents})
    for member, item in members.items():
        if _DONE in item:
            yield keeper.bound(
                component, name, member, _map(item[_DONE], (_MEMBERS, member, _DONE))
            )
        for number, written in enumerate(_list(item.get(_STANDS, []), (_MEMBERS, member, _STANDS))):
            with below(_MEMBERS, member, _STANDS, number):
                yield keeper.stands(component, name, member, *_target_of(written))


def shown_path(path: FieldPath, urn: str) -> FieldPath:
    """Return the path in a file of a field of a resource: ``decisions.east.wave`` is of the line of
    the member.
    """
    inside = path[1:] if path[:1] in (("outputs",), ("inputs",)) else path
    if urn and names.is_urn(urn) and (parsed := names.Urn.parse(urn)).type == names.BINDING:
        return (_MEMBERS, parsed.name.rpartition("@")[2], _DONE, *inside)
    if inside[:1] == ("decisions",):
        return (_MEMBERS, *inside[1:2], *((_DECISION, *inside[2:]) if inside[1:] else ()))
    return inside


def _text(name: str, kept: _Kept) -> str:
    outputs = dict(kept.outputs)
    # These three have places of their own in the file.
    decisions, contents = outputs.pop("decisions"), outputs.pop("contents")
    clusters = sorted({*decisions, *kept.done, *kept.stands})
    members = {cluster: _line(cluster, decisions, kept) for cluster in clusters}
    memory = outputs.pop("memory")
    order = ("format", "revision", *sorted(outputs.keys() - {"format", "revision"}))
    plain = {key: decompress(text) for key, text in contents.items()}
    whole = {"subject": name, **{key: outputs[key] for key in order}}
    return lines({**whole, _MEMBERS: members, "memory": memory, "contents": plain}, _SPREAD)


def _line(cluster: str, decisions: Mapping[str, Any], kept: _Kept) -> dict[str, Any]:
    return {
        **({_DECISION: decisions[cluster]} if cluster in decisions else {}),
        **({_DONE: kept.done[cluster]} if cluster in kept.done else {}),
        **({_STANDS: sorted(kept.stands[cluster])} if cluster in kept.stands else {}),
    }


def _read(text: bytes) -> Mapping[str, Any]:
    try:
        found = read_json(text, unique=True)
    except UnreadableError as error:
        raise MisfitError(Problem(error.message, line=error.line)) from None
    return _map(found, ())


def _map(value: Any, path: FieldPath) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MisfitError(
            Problem(
                (
                    Message("not-map", "is not a map")
                    if value is not None
                    else Message("is-missing", "is missing")
                ),
                path,
            )
        )
    return value


def _list(value: Any, path: FieldPath) -> list[Any]:
    if not isinstance(value, list):
        raise MisfitError(Problem(Message("not-list", "is not a list"), path))
    return value


def _member(value: Any, member: str) -> Mapping[str, Any]:
    line = _map(value, (_MEMBERS, member))
    strange = sorted(line.keys() - _MEMBER_FIELDS)
    if strange:
        raise MisfitError(
            Problem(
                Message("not-field-member", "is not a field of a member"),
                (_MEMBERS, member, strange[0]),
            )
        )
    return line


def _packed(kept: Any, key: str) -> str:
    return compress(_list(kept, ("contents", key)))


def _target_of(written: Any) -> tuple[str, ObjectKey]:
    """Return type token and key of an object that is written down as one text."""
    if not isinstance(written, str):
        raise MisfitError(Problem(_NO_OBJECT))
    return _object(written)


@lru_cache(2**14)
def _object(written: str) -> tuple[str, ObjectKey]:
    """Return the same of a text; the members of a subject have the same objects."""
    try:
        version, key = read_written(written)
    except ValueError:
        raise MisfitError(Problem(_NO_OBJECT)) from None
    return names.type_token({"apiVersion": version, "kind": key.kind}), key


def _written(version: str, key: ObjectKey) -> str:
    return "|".join((version, key.kind, key.namespace, key.name))


def _subject_of(urn: names.Urn, key: str) -> str:
    if names.component_type(names.TEMPLATE_KIND) in urn.types:
        return f"{names.TEMPLATE_KIND}/{key}"
    # Only the key of a ResourcePlacement has a namespace.
    return f"{'ResourcePlacement' if '/' in key else 'ClusterResourcePlacement'}/{key}"


def _without(outputs: Mapping[str, Any], left_out: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in outputs.items() if key not in left_out}
