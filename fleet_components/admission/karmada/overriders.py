"""Structure of the overriders of an override policy."""

from __future__ import annotations

from fleet_components.admission.schema import Schema, anything, listing, mapping, struct, text


def _operator(*names: str) -> Schema:
    return text(required=True, enum=names, go="v1alpha1.OverriderOperator")


_ANY_CHANGE = _operator("add", "remove", "replace")
_WORDS = listing(
    struct(
        {
            "containerName": text(required=True, example="nginx"),
            "operator": _operator("add", "remove"),
            "value": listing(text(), example=["--verbose"]),
        },
        go="v1alpha1.CommandArgsOverrider",
    )
)
_TEXTS = listing(
    struct(
        {"operator": _ANY_CHANGE, "value": mapping(text(), required=True, example={"env": "prod"})},
        go="v1alpha1.LabelAnnotationOverrider",
    )
)


def _patch(go: str) -> Schema:
    fields = {"subPath": text(required=True, example="/level"), "operator": _ANY_CHANGE, "value": anything(example=1)}
    return listing(struct(fields, go=go))


FIELD_OVERRIDER = struct(
    {
        "fieldPath": text(required=True, example="/data/config.yaml"),
        "json": _patch("v1alpha1.JSONPatchOperation"),
        "yaml": _patch("v1alpha1.YAMLPatchOperation"),
    },
    go="v1alpha1.FieldOverrider",
)
"""Patches of the JSON or YAML document in a field."""

OVERRIDERS = struct(
    {
        "plaintext": listing(
            struct(
                {
                    "path": text(required=True, example="/spec/replicas"),
                    "operator": _ANY_CHANGE,
                    "value": anything(example=1),
                },
                go="v1alpha1.PlaintextOverrider",
            )
        ),
        "imageOverrider": listing(
            struct(
                {
                    "predicate": struct(
                        {"path": text(required=True, example="/spec/template/spec/containers/0/image")},
                        go="v1alpha1.ImagePredicate",
                    ),
                    "component": text(
                        required=True, enum=("Registry", "Repository", "Tag"), go="v1alpha1.ImageComponent"
                    ),
                    "operator": _ANY_CHANGE,
                    "value": text(example="registry.example.com"),
                },
                go="v1alpha1.ImageOverrider",
            )
        ),
        "commandOverrider": _WORDS,
        "argsOverrider": _WORDS,
        "labelsOverrider": _TEXTS,
        "annotationsOverrider": _TEXTS,
        "fieldOverrider": listing(FIELD_OVERRIDER),
    },
    go="v1alpha1.Overriders",
    example={"plaintext": [{"path": "/spec/replicas", "operator": "replace", "value": 1}]},
)
"""Changes of the selected objects."""
