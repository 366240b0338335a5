"""Changes of the resources of a stack: compares the registrations of a run with the state before
it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from fleet_components.content.difference import Difference, differences
from fleet_components.content.replacement import as_sent, replacement
from fleet_components.content.secret import REDACTED, redacted, secret_fields
from fleet_components.content.stored import normalized
from fleet_components.model.manifest import value_at
from fleet_components.model.problem import show_path
from fleet_components.plan.names import PROVIDER, is_object
from fleet_components.plan.recorded import Recorded
from fleet_components.plan.state import (
    ENCRYPTED,
    PENDING_REPLACEMENT,
    is_marked_secret,
    redact,
    reveal,
)
from fleet_components.review.planning.resource import (
    CREATE,
    DELETE,
    REPLACE,
    SAME,
    UPDATE,
    ChangedResource,
)
from fleet_components.testing.monitor import Registration

STACK = "pulumi:pulumi:Stack"
_PROVIDER = "pulumi:providers:"
# The SDK's marker of unknown values: `UNKNOWN` in `pulumi.runtime.rpc`.
_UNKNOWN, _SHOWN_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "[unknown]"
_ENGINES_OWN = ("version", "pluginDownloadURL", "pluginChecksums", "__internal")
"""Inputs that the engine adds to those of a provider."""


Sent = Mapping[tuple[str, str], Mapping[str, Any]]
"""Objects by type and name, as their source had them when they were sent."""


def compare(
    registrations: Iterable[Registration],
    root: str,
    export: Mapping[str, Any] | None,
    sent: Sent = MappingProxyType({}),
    unseen: Collection[str] = (),
    *,
    known: bool = True,
) -> tuple[ChangedResource, ...]:
    """Return the resources of a run and those that it would delete: parents and dependencies first.

    Args:
        registrations: what the program registered.
        root: the URN of the stack, which the program does not register itself.
        export: the state before, as ``pulumi stack export`` prints it; None for a new stack.
        sent: the objects that the last update has sent.
        unseen: URNs of objects that stay, and that the program does not register, because their
            content is not known.
        known: whether there is a state to compare with; if not, the changes are empty.
    """
    stored = {r["urn"]: r for r in stored_in(export)}
    found = [_stack(root), *registrations]
    previous = {r.urn: _previous_urn(r, stored) for r in found}
    providers = {r.urn: r.inputs for r in found if r.type.startswith(_PROVIDER)}
    resources = [
        _resource(
            r, stored.get(previous[r.urn]), providers, sent.get((r.type, r.name), {}), known=known
        )
        for r in found
    ]
    # What was found under an alias is renamed, and not gone.
    registered = {*(r.urn for r in found), *previous.values()}
    # With what stands between them, as barriers do.
    kept = {stored[urn].get("parent") for urn in unseen}
    gone = [
        _unregistered(r, stays=r.get("parent") in kept)
        for urn, r in stored.items()
        if urn not in registered
    ]
    return tuple(_ordered([*resources, *gone]))


def _previous_urn(registration: Registration, stored: Mapping[str, Any]) -> str:
    """Return the URN under which a resource is in the state: its own, or one of its aliases."""
    # Aliases are previous names: the resource may be in the state under one of them.
    return next(
        (urn for urn in (registration.urn, *registration.aliases) if urn in stored),
        registration.urn,
    )


def _stack(root: str) -> Registration:
    return Registration(root, STACK, root.rpartition("::")[2], custom=False, inputs={})


def stored_in(export: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    """Yield the resources in a state that a program registers: not those pending deletion, nor
    default providers.
    """
    for resource in (export or {}).get("deployment", {}).get("resources") or ():
        if not resource.get("delete") and not _is_default_provider(resource["urn"]):
            yield resource


def _is_default_provider(urn: str) -> bool:
    # Padded, since the reference of a provider may be empty.
    _, _, kind, name = (urn.split("::") + [""] * 4)[:4]
    return kind.startswith(_PROVIDER) and name.startswith("default")


def _resource(
    registration: Registration,
    stored: Mapping[str, Any] | None,
    providers: Mapping[str, Mapping[str, Any]],
    sent: Mapping[str, Any],
    *,
    known: bool,
) -> ChangedResource:
    resource = ChangedResource(
        registration.urn,
        registration.type,
        registration.name,
        _shown_of(registration.type, registration.inputs),
        registration.parent,
        _without_id(registration.provider),
        registration.dependencies,
        registration.options,
        CREATE if known else "",
    )
    if stored is None:
        return resource
    if stored.get(PENDING_REPLACEMENT):
        return resource  # it was deleted, and is only created now
    uncompared: list[str] = []
    given = {key: value for key, value in registration.inputs.items() if key not in _ENGINES_OWN}
    old, new = _sides(registration.type, stored, given)
    found = tuple(_changes(_compare(old, new, (), uncompared), old, new, as_sent(sent), uncompared))
    if found:
        hidden = secret_inputs(registration.type, old) | secret_inputs(registration.type, new)
        found = tuple(map(_hiding(hidden), found))
    # The provider replaces ConfigMaps and Secrets unless this input of its own is true.
    changes_it = providers.get(_without_id(registration.provider), {}).get(
        _MUTABLE.get(str(new.get("kind")), "")
    )
    # Inputs of a provider are text in the state, and may be bool in a program.
    sealed = str(changes_it).lower() != "true"
    replaced = (
        bool(found)
        and is_object(registration.type)
        and bool(replacement(reveal(old), reveal(new), sealed=sealed))
    )
    # The engine writes once more what was not written, or did not become ready.
    change = REPLACE if replaced else UPDATE if found or stored.get("initErrors") else SAME
    return attrs.evolve(resource, change=change, differences=found, uncompared=tuple(uncompared))


_MUTABLE = {"ConfigMap": "enableConfigMapMutable", "Secret": "enableSecretMutable"}
"""Setting with which the Kubernetes provider changes objects in place, by kind."""


def _sides(
    token: str, stored: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the old and the new inputs of a resource as they are compared.

    After an error of the provider, an object may not be what its inputs in the state say: then it
    is as it was seen.
    """
    inputs = _inputs(stored)
    if not is_object(token):
        return inputs, given
    new = _as_sent(_named_as_before(inputs, given))
    outputs = (stored.get("outputs") or {}) if stored.get("initErrors") else {}
    recorded = Recorded.of(reveal(outputs))
    if recorded is None:
        return _as_sent(inputs), new
    plain: Mapping[str, Any] = reveal(new)
    seen = recorded.as_compared(plain)
    # With the marks of secrets, as far as nothing has changed.
    return {key: new[key] if value == plain.get(key) else value for key, value in seen.items()}, new


def _named_as_before(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs of an unnamed object with the name that the Kubernetes provider generated
    before and keeps.
    """
    made_up = value_at(old, ("metadata", "annotations", _AUTONAMED))
    now = new.get("metadata") or {}
    if not made_up or now.get("name") or now.get("generateName"):
        return new
    annotations = {**(now.get("annotations") or {}), _AUTONAMED: made_up}
    return {
        **new,
        "metadata": {
            **now,
            "name": value_at(old, ("metadata", "name")),
            "annotations": annotations,
        },
    }


_AUTONAMED = "pulumi.com/autonamed"


def _inputs(stored: Mapping[str, Any]) -> dict[str, Any]:
    inputs = stored.get("inputs") or {}
    added = _ENGINES_OWN if stored["type"].startswith(_PROVIDER) else ()
    return {key: value for key, value in inputs.items() if key not in added}


def _compare(
    old: Any, new: Any, path: tuple[str | int, ...], uncompared: list[str]
) -> Iterator[Difference]:
    """Yield differences like :func:`differences`; secrets are compared, but never shown."""
    if is_marked_secret(old) or is_marked_secret(new):
        if (
            is_marked_secret(old)
            and is_marked_secret(new)
            # Encrypted in the state, or not known to this plan: the two cannot be compared.
            and ("ciphertext" in old or reveal(new) == REDACTED)
        ):
            uncompared.append(show_path(path))
        elif is_marked_secret(old) != is_marked_secret(new) or reveal(old) != reveal(new):
            yield Difference(path, old, new).hidden
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted(old.keys() | new.keys()):
            yield from _compare(old.get(key), new.get(key), (*path, key), uncompared)
    # Lists of other lengths differ as a whole: their items have no identity.
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _compare(before, after, (*path, index), uncompared)
    else:
        yield from differences(_shown(old), _shown(new), path)


def _changes(
    found: Iterable[Difference],
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    sent: Mapping[str, Any],
    uncompared: list[str],
) -> Iterator[Difference]:
    """Yield the differences without those of the form in which the provider keeps objects:
    quantities, empty fields.

    What was sent alike has not changed. Where it is not known what was sent, an empty field is not
    compared.
    """
    plain, stood = reveal(new), reveal(old)
    before, after = normalized(stood), normalized(plain)
    for difference in found:
        if sent and value_at(sent, difference.path) == _shown(value_at(plain, difference.path)):
            continue
        alike = value_at(before, difference.path) == value_at(after, difference.path)
        # The same in another form: "1000m" and "1", or a field that is empty.
        if alike and value_at(stood, difference.path) != value_at(plain, difference.path):
            continue
        if not sent and difference.old is None and difference.new in ("", {}, []):
            uncompared.append(difference.field)
        else:
            yield difference


def _as_sent(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the inputs of an object as the provider sends them, in which a Secret has no
    ``stringData``.
    """
    plain = reveal(data)
    if plain.get("stringData") == ENCRYPTED:
        return {**data, "stringData": None, "data": data["stringData"]}
    encoded = as_sent(plain)
    if encoded is plain:
        return data
    marks = next(
        (item for item in (data.get("data"), data["stringData"]) if is_marked_secret(item)), None
    )
    value = encoded["data"]
    if marks:
        value = {**{key: text for key, text in marks.items() if key != "plaintext"}, "value": value}
    return {**data, "stringData": None, "data": value}


def _unregistered(stored: Mapping[str, Any], *, stays: bool) -> ChangedResource:
    """Return a resource that the program does not register: deleted, unless it stays without being
    compared.
    """
    provider = _without_id(stored.get("provider") or "")
    options = {key: True for key in ("protect", "retainOnDelete") if stored.get(key)}
    return ChangedResource(
        stored["urn"],
        stored["type"],
        stored["urn"].rpartition("::")[2],
        _shown_of(stored["type"], _inputs(stored)),
        stored.get("parent") or "",
        "" if _is_default_provider(provider) else provider,
        tuple(sorted(stored.get("dependencies") or ())),
        options,
        SAME if stays else DELETE,
        uncompared=tuple(sorted(_inputs(stored))) if stays else (),
    )


def _shown_of(token: str, inputs: Mapping[str, Any]) -> Any:
    """Return the inputs of a resource without what is secret in them, whether a program has marked
    it or not.
    """
    plain: Mapping[str, Any] = redact(inputs)
    if is_object(token):
        return _shown(redacted(plain))
    hidden = secret_inputs(token, inputs)
    return _shown(
        {key: REDACTED if key in hidden and value else value for key, value in plain.items()}
    )


def secret_inputs(token: str, inputs: Mapping[str, Any]) -> set[str]:
    """Return the inputs that hold something secret: in Kubernetes objects, and in the providers
    that reach clusters.
    """
    if is_object(token):
        return secret_fields(inputs)
    return {"kubeconfig"} & inputs.keys() if token == PROVIDER else set()


def _hiding(hidden: Collection[str]) -> Callable[[Difference], Difference]:
    """Return a function that hides the values of a difference in one of these inputs."""

    def hide(difference: Difference) -> Difference:
        if difference.path[0] not in hidden:
            return difference
        return difference.hidden

    return hide


def _shown(value: Any) -> Any:
    """Return a value without secrets and unknown values, and with whole floats as integers."""
    value = redact(value)
    if isinstance(value, Mapping):
        return {key: _shown(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return _SHOWN_UNKNOWN if value == _UNKNOWN else value


def _without_id(reference: str) -> str:
    """Return the URN in a provider reference ``urn::id``; the URN itself has four parts."""
    return "::".join(reference.split("::")[:4])


def _ordered(resources: list[ChangedResource]) -> list[ChangedResource]:
    """Return the resources in an order that is the same in every run: dependencies first, then by
    URN.
    """
    before = {item.urn: [item.parent, *item.dependencies] for item in resources}
    depths: dict[str, int] = {}
    for urn in before:
        path = [] if urn in depths else [urn]
        while path:  # not recursive: a chain may be longer than Python's call stack
            current = path[-1]
            waiting = [
                other for other in before[current] if other in before and other not in depths
            ]
            depths.setdefault(current, 0)  # ends cycles
            if waiting:
                path.append(waiting[0])
                continue
            depths[current] = 1 + max(
                (depths.get(other, 0) for other in before[current]), default=0
            )
            path.pop()
    return sorted(resources, key=lambda resource: (depths[resource.urn], resource.urn))
