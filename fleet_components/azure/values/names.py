"""Validation of the names of Azure resources.

Sources: the request types of ``Microsoft.ContainerService`` at API versions 2025-09-01 (AKS) and
2026-06-01 (Fleet), and "Naming rules and restrictions for Azure resources" for resource groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem


@attrs.frozen
class NameRule:
    """Rule for one kind of name.

    Attributes:
        what: the kind of name, for messages.
        pattern: a regular expression that the whole name must match.
        longest: the maximum length in characters.
        words: the rule in words.
        example: a valid name.
    """

    what: str
    pattern: str
    longest: int
    words: str
    example: str

    def problems(self, name: str, path: FieldPath) -> Iterator[Problem]:
        """Yield what is wrong with a name; nothing if it is valid."""
        if not name:
            yield Problem(
                Message("azure-name-missing", "the {what} is missing", what=self.what),
                path,
                f"for example {self.example}",
            )
        elif len(name) > self.longest or not re.fullmatch(self.pattern, name):
            rule = f"1 to {self.longest} characters: {self.words}; for example {self.example}"
            yield Problem(
                Message("not-valid", '"{name}" is not a valid {what}', name=name, what=self.what),
                path,
                rule,
            )


def _dashed(what: str, longest: int, example: str) -> NameRule:
    words = "lower-case letters, digits and dashes, beginning and ending with a letter or digit"
    return NameRule(what, "[a-z0-9]([-a-z0-9]*[a-z0-9])?", longest, words, example)


def _guid(what: str) -> NameRule:
    pattern = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    return NameRule(what, pattern, 36, "a GUID", "00000000-0000-0000-0000-000000000000")


FLEET = _dashed("name of a fleet", 63, "shop-fleet")
MEMBER = _dashed("name of a member", 50, "weu-1")
GROUP = _dashed("update group", 50, "canary")
STRATEGY = _dashed("name of an update strategy", 50, "rings")
STAGE = _dashed("name of a stage", 50, "canary")
RUN = _dashed("name of an update run", 50, "to-1-36-1")
PROFILE = _dashed("name of an auto-upgrade profile", 50, "stable")
NAMESPACE = _dashed("name of a namespace", 63, "shop")
SUBSCRIPTION = _guid("subscription ID")
OBJECT_ID = _guid("object ID of Entra ID")
CLUSTER = NameRule(
    "name of an AKS cluster",
    "[a-zA-Z0-9]([-_a-zA-Z0-9]*[a-zA-Z0-9])?",
    63,
    "letters, digits, dashes and underscores, beginning and ending with a letter or digit",
    "aks-weu-1",
)
NODE_POOL = NameRule(
    "name of a node pool",
    "[a-z][a-z0-9]*",
    12,
    "lower-case letters and digits, beginning with a letter",
    "apps",
)
DNS_PREFIX = NameRule(
    "DNS prefix",
    "[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?",
    54,
    "letters, digits and dashes, beginning and ending with a letter or digit",
    "weu-1",
)
RESOURCE_GROUP = NameRule(
    "name of a resource group",
    r"[-\w.()]*[-\w()]",
    90,
    "letters, digits, dashes, underscores, parentheses and dots, not ending with a dot",
    "rg-fleet",
)
NODE_RESOURCE_GROUP = attrs.evolve(RESOURCE_GROUP, longest=80, example="rg-weu-1-nodes")
REGION = NameRule("region", "[a-z]+[0-9]?", 40, "the short name of a region", "westeurope")
VM_SIZE = NameRule(
    "VM size", "[A-Z][A-Za-z0-9_-]*", 60, "the name that Azure gives it", "Standard_D4s_v5"
)
KUBERNETES_VERSION = NameRule(
    "Kubernetes version", r"1\.[0-9]+(\.[0-9]+)?", 10, "a minor version or a patch of one", "1.36"
)
KUBERNETES_MINOR = NameRule(
    "minor Kubernetes version", r"1\.[0-9]+", 6, "a minor version without a patch", "1.36"
)
