"""Fleets with a planted value: in every spelling of a scalar, in every object that holds a Secret, at every door."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable, Mapping

import yaml

from tests.cli.fleets import MEMBERS
from tests.delivery.karmada.world import member, policy

CANARY = "cAnArY7q3Zr9"
HIDDEN = (CANARY, base64.b64encode(CANARY.encode()).decode()[:14])
"""What no output may have: the value, and its form in the data of a Secret."""

SPELLINGS: Mapping[str, str] = {
    "plain": CANARY,
    "in double quotes": f'"{CANARY}"',
    "in single quotes": f"'{CANARY}'",
    "in base64": base64.b64encode(CANARY.encode()).decode(),
    "as a block": f"|\n  {CANARY}\n  more",
    "folded": f">-\n  {CANARY}\n  more",
    "over two lines": f"{CANARY}\n  more",
    "in a list": f"[{CANARY}]",
    "in a map": f"{{a: {CANARY}}}",
    "in deep lists": "[" * 20 + CANARY + "]" * 20,
    "as binary": f"!!binary {CANARY}",
    "as a number": f"!!int {CANARY}",
    "as a fraction": f'!!float "{CANARY}"',
    "as a flag": f"!!bool {CANARY}",
    "as nothing": f"!!null {CANARY}",
    "as a time": f"!!timestamp {CANARY}",
    "of a tag": f"!{CANARY} x",
    "of a strange tag": f"!a!{CANARY} x",
    "of a tag by address": f"!<tag:{CANARY}> x",
    "of a tag and in quotes": f'!secret "{CANARY}"',
    "an alias": f"*{CANARY}",
    "an anchor": f"&{CANARY} x",
    "an anchor of itself": f"&{CANARY} [*{CANARY}]",
    "an anchor alone": f"&{CANARY}",
    "a reserved sign": f"@{CANARY}",
    "a backtick": f"`{CANARY}",
    "a directive": f"%{CANARY}",
    "a quote that stays open": f'"{CANARY}',
    "another quote that stays open": f"'{CANARY}",
    "a list that stays open": f"[{CANARY}",
    "a list closed as a map": f"[{CANARY}}}",
    "an unknown escape": f'"\\q{CANARY}"',
    "a broken escape": f'"\\u12{CANARY}"',
    "a tab": f"\t{CANARY}",
    "a control character": f"{CANARY}\x07",
    "a line that is out of place": f"x\n {CANARY}",
    "two values": f'"x" {CANARY}',
    "a colon within": f"x: {CANARY}: y",
    "a merge": f"{{<<: {CANARY}}}",
    "a merge of a list": f"{{<<: [{CANARY}]}}",
    "a block of a strange width": f"|{CANARY}\n  x",
    "a dash": f"- {CANARY}",
    "a helm template": f"{{{{ {CANARY} }}}}",
    "with a comment": f"x # {CANARY}",
    "YAML with an alias": f'"a: *{CANARY}"',
    "YAML with a tag": f'"a: !!int {CANARY}"',
    "YAML that is none": f"'{{{CANARY}'",
    "JSON": f'\'{{"a": "{CANARY}"}}\'',
    "JSON that is none": f"'{{\"a\": {CANARY}}}'",
    "no image": f'"{CANARY.lower()}:a b@{CANARY}"',
}
"""One value of a Secret, in every way that somebody could write it, right or wrong."""


def secret(
    value: str, field: str = "stringData", api: str = "apiVersion: v1", kind: str = "Secret"
) -> str:
    return f"{api}\nkind: {kind}\nmetadata: {{name: login, namespace: shop}}\n{field}:\n  user: admin\n  pin: {_deep(value, 2)}\n"


def _deep(text: str, by: int) -> str:
    first, *rest = text.split("\n")
    return "\n".join((first, *(f"{' ' * by}{line}" for line in rest)))


def _as_json(value: str) -> str:
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "login"},
            "data": {"pin": value},
        }
    )


def _text_of(value: str, kind: str, field: str) -> str:
    """An object that has the text of a Secret in a field."""
    inner = textwrap.indent(secret(value), "    ")
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: texts, namespace: shop}}\n{field}:\n  all.yaml: |\n{inner}"


def _in_list(value: str, kind: str) -> str:
    item = textwrap.indent(secret(value), "  ")
    return f"apiVersion: v1\nkind: {kind}\nitems:\n- {item.lstrip()}"


def _in_envelope(value: str, item: str) -> str:
    return (
        "apiVersion: placement.kubernetes-fleet.io/v1\nkind: ResourceEnvelope\n"
        "metadata: {name: wrapped, namespace: shop}\ndata:\n  login.yaml:\n"
        + textwrap.indent(item, "    ")
    )


HOLDERS: Mapping[str, Callable[[str], str]] = {
    "a Secret with text": secret,
    "a Secret with data": lambda value: secret(value, "data"),
    "a Secret of a strange version": lambda value: secret(value, api="apiVersion: /v1"),
    "a Secret of another group": lambda value: secret(value, api="apiVersion: example.com/v1"),
    "a Secret of no version": lambda value: secret(value, api="# none"),
    "a Secret in other letters": lambda value: secret(value, kind="SECRET"),
    "a Secret that is immutable": lambda value: secret(
        value, api="immutable: true\napiVersion: v1"
    ),
    "a Secret of a strange type": lambda value: secret(
        value, api="type: kubernetes.io/tls\napiVersion: v1"
    ),
    "a Secret with the value twice": lambda value: secret(value) + f"  pin: {_deep(value, 2)}\n",
    "a Secret of an unknown field": lambda value: secret(value) + "strings: {a: b}\n",
    "a Secret with labels of a wrong type": lambda value: secret(value).replace(
        "}", ", labels: {a: [1]}}", 1
    ),
    "a Secret as JSON": _as_json,
    "a list": lambda value: _in_list(value, "List"),
    "a list of Secrets": lambda value: _in_list(value, "SecretList"),
    "a ConfigMap": lambda value: _text_of(value, "ConfigMap", "data"),
    "a Secret with a text": lambda value: _text_of(value, "Secret", "stringData"),
    "a custom object": lambda value: _text_of(value, "Farm", "spec").replace(
        "v1", "example.com/v1", 1
    ),
    "an envelope": lambda value: _in_envelope(value, secret(value)),
    "an envelope of an item without kind": lambda value: _in_envelope(
        value, f"data:\n  pin: {_deep(value, 2)}\n"
    ),
    "what kubectl applied": lambda value: (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n  namespace: shop\n  annotations:\n"
        f"    kubectl.kubernetes.io/last-applied-configuration: {json.dumps(_as_json(value))}\ndata: {{a: b}}\n"
    ),
}
"""The texts of objects that hold a Secret, from the spelling of its value."""

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
PLACED_BY_KUBEFLEET = """\
apiVersion: placement.kubernetes-fleet.io/v1
kind: ClusterResourcePlacement
metadata: {name: shop}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: shop}]
  policy: {placementType: PickAll}
"""


def _overriding(**overriders: object) -> str:
    override = {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "over"},
        "spec": {
            # Elsewhere its values would not be secret.
            "resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}],
            "overrideRules": [{"overriders": overriders}],
        },
    }
    return yaml.safe_dump(override)


_EVERYTHING = [{"apiVersion": "v1", "kind": kind} for kind in ("Namespace", "Secret", "ConfigMap")]
_KARMADA = yaml.safe_dump_all(
    [
        *map(member, "ab"),
        policy("all", "ClusterPropagationPolicy", resourceSelectors=_EVERYTHING),
    ]
)
OVERRIDES: Mapping[str, str] = {
    "nothing": "",
    "the kind": _overriding(
        plaintext=[{"path": "/kind", "operator": "replace", "value": "ConfigMap"}]
    ),
    "no kind": _overriding(plaintext=[{"path": "/kind", "operator": "remove"}]),
    "the value": _overriding(
        plaintext=[{"path": "/stringData/pin", "operator": "replace", "value": CANARY}]
    ),
    "below the value": _overriding(
        plaintext=[{"path": "/stringData/pin/0", "operator": "add", "value": CANARY}]
    ),
    "what is not there": _overriding(
        plaintext=[{"path": "/data/none", "operator": "replace", "value": CANARY}]
    ),
    "all of the data": _overriding(
        plaintext=[{"path": "/data", "operator": "add", "value": {"pin": CANARY}}]
    ),
    "an image": _overriding(
        imageOverrider=[
            {
                "component": "Tag",
                "operator": "replace",
                "value": "1",
                "predicate": {"path": "/stringData/pin"},
            }
        ]
    ),
    "a field of the value": _overriding(
        fieldOverrider=[
            {
                "fieldPath": "/stringData/pin",
                "yaml": [{"subPath": "/a", "operator": "add", "value": CANARY}],
            }
        ]
    ),
    "a field of JSON": _overriding(
        fieldOverrider=[
            {
                "fieldPath": "/data/pin",
                "json": [{"subPath": "/a/b", "operator": "replace", "value": CANARY}],
            }
        ]
    ),
    "an annotation": _overriding(annotationsOverrider=[{"operator": "add", "value": {"a": "b"}}]),
}
"""Override policies of Karmada that aim at the Secret."""

SYSTEMS: Mapping[str, Mapping[str, str]] = {
    "KubeFleet": {
        "members.yaml": MEMBERS,
        "placement.yaml": NAMESPACE + "---\n" + PLACED_BY_KUBEFLEET,
    },
    **{
        f"Karmada, overriding {name}": {"fleet.yaml": "---\n".join((_KARMADA, NAMESPACE, text))}
        for name, text in OVERRIDES.items()
    },
}


def _other(text: str) -> str:
    return text.replace(CANARY, "another").replace(HIDDEN[1], "YW5vdGhlcmFub3RoZXI")


CHANGES: Mapping[str, Callable[[str], str]] = {
    "nothing": lambda text: text,
    "the version": lambda text: text.replace("apiVersion: v1", "apiVersion: /v1", 1),
    "another group": lambda text: text.replace("apiVersion: v1", "apiVersion: example.com/v1", 1),
    "the kind": lambda text: _other(text.replace("kind: Secret", "kind: ConfigMap", 1)),
    "the field": lambda text: text.replace("stringData:", "data:", 1).replace("data:", "datum:", 1),
    "the value": lambda text: _other(text),
    "the end of it": lambda text: f"{text[: text.find(CANARY) + len(CANARY)]}\n",
    "its place": lambda _: (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n"
    ),
}
"""What the second run finds in the place of the object that holds the value."""

_KUBECONFIG = f"""\
apiVersion: v1
kind: Config
current-context: x
clusters: [{{name: x, cluster: {{server: "https://a:6443"}}}}]
contexts: [{{name: x, context: {{cluster: x, user: x}}}}]
users: [{{name: x, user: {{token: {CANARY}}}}}]
"""
KUBECONFIGS: Mapping[str, str | list[object] | dict[str, object]] = {
    "a whole one": _KUBECONFIG,
    "in base64": base64.b64encode(_KUBECONFIG.encode()).decode(),
    "as JSON": json.dumps(yaml.safe_load(_KUBECONFIG)),
    "a token in JSON": json.dumps({"users": [{"token": CANARY}]}),
    "a token": CANARY,
    "a long token": CANARY * 500,
    "a path of nothing": f"a/{CANARY}/b.yaml",
    "in a home": f"~/{CANARY}",
    "in the home of nobody": f"~{CANARY}/x",
    "a line of YAML": f"token: {CANARY}",
    "an alias": f"a: *{CANARY}",
    "a tag": f"a: !!int {CANARY}",
    "two lines": f"{CANARY}\nx",
    "with a NUL": f"{CANARY}\0x",
    "an address": f"https://user:{CANARY}@host",
    "a certificate": f"-----BEGIN CERTIFICATE-----\n{CANARY}\n-----END CERTIFICATE-----",
    "broken": _KUBECONFIG.replace("users: [", "users: [{"),
    "twice": f"{_KUBECONFIG}---\n{_KUBECONFIG}",
    "of a strange server": _KUBECONFIG.replace("https://a:6443", CANARY),
    "with a password in the address": _KUBECONFIG.replace("https://a", f"https://u:{CANARY}@a"),
    "without a server": _KUBECONFIG.replace('server: "https://a:6443"', f"password: {CANARY}"),
    "of another context": _KUBECONFIG.replace("current-context: x", f"current-context: {CANARY}"),
    "with a list as token": _KUBECONFIG.replace(f"token: {CANARY}", f"token: [{CANARY}]"),
    "with a command": _KUBECONFIG.replace(
        f"token: {CANARY}", f"exec: {{command: {CANARY}, args: [{CANARY}]}}"
    ),
    "a list": [CANARY],
    "a map": {"users": [{"token": CANARY}]},
}
"""Kubeconfigs with a planted token, right and wrong, as the configuration may give them."""
