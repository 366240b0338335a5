"""The names and the URNs of all that a fleet registers. They are in every state, so they stay as they are.

A name begins with the fleet's, so that two fleets of one program may hold placements of one name::

    prod/shop                              a placement or template, and its decision
    prod/shop@aks-dublin                   the same on a member, and its binding
    prod/shop@aks-dublin/shop/storefront   an object there, as namespace/name
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey

_DYNAMIC = "pulumi-python:dynamic/fleet:"
PLACEMENT, TEMPLATE, BINDING = f"{_DYNAMIC}Placement", f"{_DYNAMIC}Template", f"{_DYNAMIC}Binding"
ROSTER, MEMBER, BARRIER = f"{_DYNAMIC}Roster", f"{_DYNAMIC}Member", f"{_DYNAMIC}Barrier"
OWN = (PLACEMENT, TEMPLATE, BINDING, ROSTER, MEMBER)
"""The types of what this package itself remembers."""
TEMPLATE_KIND = "Template"
"""The kind that begins the names of templates."""
FLEET, TARGET = "fleet:index:Fleet", "fleet:index:Target"
PROVIDER = "pulumi:providers:kubernetes"
_KUBERNETES, _CORE = "kubernetes:", "core/"
# A member's name has neither @ nor /, a namespace has no @, and a name has no /: so there is one way to read it.
_OBJECT = re.compile(r"(?P<key>.+)@(?P<cluster>[^@/]+)/(?P<object>.+)")


@attrs.frozen
class Urn:
    """A URN in its parts.

    Attributes:
        text: the whole URN.
        stack: the stack.
        project: the project.
        types: the type tokens of its parents, without the stack, and its own.
        name: the logical name.
    """

    text: str
    stack: str
    project: str
    types: tuple[str, ...]
    name: str

    @classmethod
    def parse(cls, text: str) -> Urn:
        """Read a URN. Raises ``ValueError`` when it is none."""
        stack, project, types, name = text.removeprefix("urn:pulumi:").split("::", 3)
        return cls(text, stack, project, tuple(types.split("$")), name)

    @property
    def type(self) -> str:
        """Its own type token."""
        return self.types[-1]

    def is_at(self, types: tuple[str, ...], name: str) -> bool:
        """Whether it has this name, and these types at the end of its own."""
        return self.name == name and self.types[-len(types) :] == types


@attrs.frozen
class Place:
    """Where an object stands, as its URN says: the key of what brought it, the member, and the object."""

    key: str
    cluster: str
    object: ObjectKey


def is_subject(name: str) -> bool:
    """Whether a name is that of a placement or template, as ``Kind/key``."""
    kind, _, key = name.partition("/")
    return kind in ("ClusterResourcePlacement", "ResourcePlacement", TEMPLATE_KIND) and bool(key)


def component_type(component: str) -> str:
    """The type of the component of a subject: ``Placement`` or ``Template``."""
    return f"fleet:index:{component}"


def decision_type(component: str) -> str:
    """The type of what was decided for a subject."""
    return f"{_DYNAMIC}{component}"


def subject_name(fleet: str, key: str) -> str:
    """The name of a placement or template, and of its decision."""
    return f"{fleet}/{key}"


def target_name(fleet: str, key: str, cluster: str) -> str:
    """The name of a placement or template on a member, and of its binding."""
    return f"{fleet}/{key}@{cluster}"


def object_name(fleet: str, key: str, cluster: str, data: Mapping[str, Any]) -> str:
    """The name of an object on a member."""
    return f"{target_name(fleet, key, cluster)}/{short_name(Manifest(data).key)}"


def member_name(fleet: str, member: str) -> str:
    """The name of a member, and of its provider."""
    return f"{fleet}/{member}"


def short_name(key: ObjectKey) -> str:
    """``namespace/name``, or the name alone."""
    return f"{key.namespace}/{key.name}" if key.namespace else key.name


def type_token(data: Mapping[str, Any]) -> str:
    """The Pulumi type of an object: ``kubernetes:apps/v1:Deployment``, ``kubernetes:core/v1:Secret``."""
    version = str(data["apiVersion"])
    return f"{_KUBERNETES}{version if '/' in version else _CORE + version}:{data['kind']}"


def is_object(token: str) -> bool:
    """Whether a type token is that of a Kubernetes object."""
    return token.startswith(_KUBERNETES)


def api_version_of(token: str) -> str:
    """The apiVersion of a Kubernetes object, from its type token."""
    version, _, _ = token.removeprefix(_KUBERNETES).rpartition(":")
    return version.removeprefix(_CORE)


def place_of(fleet: str, urn: Urn) -> Place | None:
    """Where an object of the fleet stands; None for what is no such object."""
    if not is_object(urn.type) or TARGET not in urn.types or not urn.name.startswith(f"{fleet}/"):
        return None
    found = _OBJECT.fullmatch(urn.name.removeprefix(f"{fleet}/"))
    if found is None:
        return None
    version, kind = api_version_of(urn.type), urn.type.rpartition(":")[2]
    namespace, _, name = found["object"].rpartition("/")
    return Place(found["key"], found["cluster"], ObjectKey(version.rpartition("/")[0], kind, namespace, name))
