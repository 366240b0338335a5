"""Names and URNs of all resources that a fleet registers. Every state contains them, so they must
not change.

A name begins with the fleet's, so that two fleets of one program may hold placements of one name::

    prod/shop                              a placement or template, and its decision
    prod/shop@aks-dublin                   the same on a member, and its binding
    prod/shop@aks-dublin/shop/storefront   an object there, as namespace/name
    prod@hub                               what goes through a hub, and the provider of the hub
    prod@hub/shop/storefront               an object on the hub
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey

_DYNAMIC = "pulumi-python:dynamic/fleet:"
PLACEMENT, TEMPLATE, BINDING = f"{_DYNAMIC}Placement", f"{_DYNAMIC}Template", f"{_DYNAMIC}Binding"
ROSTER, MEMBER, REPORT = f"{_DYNAMIC}Roster", f"{_DYNAMIC}Member", f"{_DYNAMIC}Report"
OWN = (PLACEMENT, TEMPLATE, BINDING, ROSTER, MEMBER)
"""Types of the resources in which this package keeps its own data."""
PROVISIONED = f"{_DYNAMIC}Provisioned"
"""Type of the records of what guests have provisioned."""
TEMPLATE_KIND = "Template"
"""Kind with which the names of templates begin."""
NAMESPACE_KEY = "Namespace/"
"""Beginning of the keys of templates that are namespaces."""
FLEET, TARGET, HUB = "fleet:index:Fleet", "fleet:index:Target", "fleet:index:Hub"
PROVIDER = "pulumi:providers:kubernetes"
PATCH = "Patch"
"""End of the type of a resource that sets some fields of an object that somebody else has made."""
RELEASE = "Release"
"""Kind of a Helm release."""
_URN, _URN_SEPARATORS = "urn:pulumi:", 3
_KUBERNETES, _CORE = "kubernetes:", "core/"
# Unambiguous: names of members contain neither @ nor /, namespaces no @, and names of objects no /.
_OBJECT = re.compile(r"(?P<key>.+)@(?P<cluster>[^@/]+)/(?P<object>.+)")


@attrs.frozen
class Urn:
    """A URN in its parts.

    Attributes:
        text: the whole URN.
        stack: the stack.
        project: the project.
        types: type tokens of its parents, without the stack, and its own.
        name: the logical name.
    """

    text: str
    stack: str
    project: str
    types: tuple[str, ...]
    name: str

    @classmethod
    @cache
    def parse(cls, text: str) -> Urn:
        """Parse a URN; reading a state asks for the same ones again and again.

        Raises:
            ValueError: the text is not a URN.
        """
        if not is_urn(text):
            raise ValueError(f'"{text}" is not a URN')
        # With a limit, because a name may hold further colons.
        stack, project, types, name = text.removeprefix(_URN).split("::", _URN_SEPARATORS)
        return cls(text, stack, project, _split(types), name)

    @property
    def type(self) -> str:
        """Type token of the resource itself."""
        return self.types[-1]

    def is_at(self, types: tuple[str, ...], name: str) -> bool:
        """Return whether the resource has this name, and its type tokens end with these types."""
        return self.name == name and self.types[-len(types) :] == types


@cache
def _split(types: str) -> tuple[str, ...]:
    """Return the type tokens of a URN; a state has thousands of URNs with the same ones."""
    return tuple(types.split("$"))


def is_urn(text: str) -> bool:
    """Return whether :meth:`Urn.parse` accepts a text."""
    return text.startswith(_URN) and text.count("::", len(_URN)) >= _URN_SEPARATORS


@attrs.frozen
class ObjectLocation:
    """Position of an object according to its URN: key of its subject, member, and key of the
    object.
    """

    key: str
    cluster: str
    object: ObjectKey


def is_subject(name: str) -> bool:
    """Return whether a name is that of a placement or template, as ``Kind/key``."""
    kind, _, key = name.partition("/")
    return kind in ("ClusterResourcePlacement", "ResourcePlacement", TEMPLATE_KIND) and bool(key)


def component_of(subject: str) -> str:
    """Return the component of a subject, ``Kind/key``: ``Placement`` or ``Template``."""
    return "Template" if subject.startswith(f"{TEMPLATE_KIND}/") else "Placement"


def component_type(component: str) -> str:
    """Return the type of a subject's component: ``Placement`` or ``Template``."""
    return f"fleet:index:{component}"


def decision_type(component: str) -> str:
    """Return the type of the resource that keeps a subject's decision."""
    return f"{_DYNAMIC}{component}"


def subject_name(fleet: str, key: str) -> str:
    """Return the name of a subject's component and of its decision."""
    return f"{fleet}/{key}"


def target_name(fleet: str, key: str, cluster: str) -> str:
    """Return the name of a subject on a member, and of its binding."""
    return f"{fleet}/{key}@{cluster}"


def object_name(fleet: str, key: str, cluster: str, data: Mapping[str, Any]) -> str:
    """Return the name of an object on a member."""
    return f"{target_name(fleet, key, cluster)}/{short_name(Manifest(data).key)}"


def member_name(fleet: str, member: str) -> str:
    """Return the name of a member's resource, and of its provider."""
    return f"{fleet}/{member}"


def is_provider_of(provider: str, member: str) -> bool:
    """Return whether a provider is that of a member, or the one of its objects in an apply mode of
    their own, by the names of their resources.
    """
    return provider == member or provider.startswith(f"{member}/")


def short_name(key: ObjectKey) -> str:
    """Return ``namespace/name``, or the name alone for cluster-scoped objects."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def type_token(data: Mapping[str, Any]) -> str:
    """Return the Pulumi type of an object: ``kubernetes:apps/v1:Deployment``,
    ``kubernetes:core/v1:Secret``.
    """
    version = str(data["apiVersion"])
    return f"{_KUBERNETES}{version if '/' in version else _CORE + version}:{data['kind']}"


def is_object(token: str) -> bool:
    """Return whether a type token is that of a Kubernetes object."""
    return token.startswith(_KUBERNETES)


@cache
def api_version_of(token: str) -> str:
    """Return the apiVersion of a Kubernetes object, from its type token."""
    # A token calls the core group core, and an apiVersion does not name it.
    version, _, _ = token.removeprefix(_KUBERNETES).rpartition(":")
    return version.removeprefix(_CORE)


def hub_name(fleet: str) -> str:
    """Return the name of what a fleet has on its hub, and of the hub's provider."""
    return f"{fleet}@hub"


def is_hub(name: str) -> bool:
    """Return whether a name is that of what some fleet has on its hub."""
    return name.endswith("@hub")


def hub_key_of(fleet: str, urn: Urn) -> ObjectKey | None:
    """Return the key of an object that a fleet has on its hub; None if the URN is of another fleet,
    or of a patch.
    """
    before = f"{hub_name(fleet)}/"
    if not urn.name.startswith(before) or urn.type.endswith(PATCH):
        return None
    return _key_of(urn.type, urn.name.removeprefix(before))


def place_of(fleet: str, urn: Urn) -> ObjectLocation | None:
    """Return the position of an object of the fleet; None if the URN is of anything else."""
    # An object on a member is below a target; one on the hub is not.
    if not is_object(urn.type) or TARGET not in urn.types or not urn.name.startswith(f"{fleet}/"):
        return None
    # Names of fleets may share a beginning: the slash ends the one that is meant.
    found = _OBJECT.fullmatch(urn.name.removeprefix(f"{fleet}/"))
    if found is None:
        return None
    return ObjectLocation(found["key"], found["cluster"], _key_of(urn.type, found["object"]))


def target_of(name: str) -> str:
    """Return the name of the target of an object on a member; empty for other resources."""
    found = _OBJECT.fullmatch(name)
    return f"{found['key']}@{found['cluster']}" if found else ""


def key_in(urn: Urn, outputs: Mapping[str, Any]) -> ObjectKey | None:
    """Return the key of an object whose name in the state is not the one that a fleet gives it;
    None for any other.

    Args:
        urn: the URN of an object of a fleet.
        outputs: its outputs; without a name in its metadata nothing is known of it but the URN.
    """
    metadata = outputs.get("metadata")
    if not isinstance(metadata, Mapping):
        return None
    name = metadata.get("name")
    if not isinstance(name, str):
        return None
    namespace, at = str(metadata.get("namespace") or ""), _OBJECT.fullmatch(urn.name)
    found = _key_of(urn.type, at["object"]) if at else None
    if found and found.name == name and found.namespace in ("", namespace):
        return None
    return _key_of(urn.type, f"{namespace}/{name}" if namespace else name)


@cache
def _key_of(token: str, short: str) -> ObjectKey:
    """Return the key of an object by its type token and :func:`short_name`; it is the same on every
    member.
    """
    group, kind = api_version_of(token).rpartition("/")[0], token.rpartition(":")[2]
    namespace, _, name = short.rpartition("/")
    return ObjectKey(group, kind, namespace, name)
