"""Applies the overriders of one rule of an override policy to an object.

Source: ``applyPolicyOverriders`` in ``pkg/util/overridemanager/overridemanager.go`` of Karmada
1.19. Overriders run in a fixed order, each on the result of the one before it: image, command,
args, labels, annotations, field, plaintext. The first error stops them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce
from itertools import groupby
from typing import Any

import attrs

from fleet_components.content.overridden import Forms, Object, OverrideError, check_hidden, patched
from fleet_components.content.patch import (
    Operation,
    PatchError,
    apply_patch,
    carried_over,
    pointer_steps,
)
from fleet_components.model.digits import integer
from fleet_components.systems.karmada.content.embedded import Image, patch_json, patch_yaml, settled
from fleet_components.systems.karmada.model.override import (
    CommandArgsOverrider,
    FieldOverrider,
    ImageOverrider,
    LabelAnnotationOverrider,
    Overriders,
    PatchOperation,
)

MOST_IMAGES = 100_000
"""The most changes of images in one object for one member."""
MOST_CHARACTERS = 2**22
"""The most characters of documents in fields that the rules for one object and member may read
and write.
"""
_POD_PATH = ("spec",)
_TEMPLATE_PATH = ("spec", "template", "spec")
_POD_SPEC_PATHS = {
    "Pod": _POD_PATH,
    **dict.fromkeys(
        ("ReplicaSet", "Deployment", "DaemonSet", "StatefulSet", "Job"), _TEMPLATE_PATH
    ),
}


@attrs.define
class OverriderBudget:
    """Work that override policies may still ask for on the way of one object to one member.

    Attributes:
        images: images to change, counted once for each overrider.
        characters: characters of documents in fields to read and write, counted once for each rule.
    """

    images: int = MOST_IMAGES
    characters: int = MOST_CHARACTERS

    def spend_images(self, number: int) -> None:
        """Count images that are changed.

        Raises:
            OverrideError: there are too many.
        """
        self.images -= number
        if self.images < 0:
            raise OverrideError(
                f"imageOverrider: more than {MOST_IMAGES} changes of images in one object"
            )

    def spend_characters(self, number: int) -> None:
        """Count characters of a document that is read and written.

        Raises:
            OverrideError: there are too many. One document of any length is not.
        """
        # A budget that is still full lets one document pass, however long it is.
        if self.characters < MOST_CHARACTERS and self.characters < number:
            what = (
                f"fieldOverrider: its rules read and write more than {MOST_CHARACTERS} characters"
                " of documents"
            )
            raise OverrideError(f"{what} in one object: put the changes into one rule")
        self.characters -= number


def apply_overriders(
    forms: Forms, overriders: Overriders, budget: OverriderBudget | None = None
) -> Forms:
    """Return the object with all overriders applied; the given object is not changed.

    Args:
        forms: the object.
        overriders: the overriders of one rule.
        budget: the work that is left for this and later rules; a new one by default.

    Raises:
        OverrideError: an overrider cannot be applied.
    """
    data, budget = forms.stored, budget or OverriderBudget()
    try:
        # The order counts: each overrider sees what those before it have changed.
        for image in overriders.image_overrider:
            data = _override_images(data, image, budget)
        for target, words in (
            ("command", overriders.command_overrider),
            ("args", overriders.args_overrider),
        ):
            data = _override_words(data, target, words)
        for part, texts in (
            ("labels", overriders.labels_overrider),
            ("annotations", overriders.annotations_overrider),
        ):
            for change in texts:
                data = _override_texts(data, part, change)
        # Only neighbours are grouped, which keeps the order.
        for (path, is_yaml), fields in groupby(
            overriders.field_overrider, lambda it: (it.field_path, bool(it.yaml))
        ):
            data = _override_field(data, path, list(fields), budget, is_yaml=is_yaml)
    except (PatchError, ValueError) as error:
        raise OverrideError(str(error)) from None
    check_hidden(forms.stored, data)  # now, since patches may move what stands in lists
    alike = forms.stored is forms.written
    made = (
        Forms.alike(data) if alike else Forms(carried_over(forms.written, forms.stored, data), data)
    )
    return patched(made, [Operation(p.operator, p.path, p.value) for p in overriders.plaintext])


def _override_images(data: Object, overrider: ImageOverrider, budget: OverriderBudget) -> Object:
    if overrider.predicate:
        path = overrider.predicate.path
        try:
            image = _image_at(data, path)
        except ValueError as error:
            raise OverrideError(
                f"failed to obtain imageValue with predicate path({path}), error: {error}"
            ) from None
        # Only now, as in Karmada, whose look-up also takes a path without the slash.
        if not path.startswith("/"):
            raise OverrideError("imagePath should be start with / character")
        return _replaced(data, path, _overridden_image(image, overrider))
    containers = containers_of(data)
    budget.spend_images(len(containers))
    images = [
        _overridden_image(container.get("image") or "", overrider) for container in containers
    ]
    changed = {
        number: {**container, "image": image}
        for number, (container, image) in enumerate(zip(containers, images, strict=True))
        if container.get("image") != image
    }
    return with_containers(data, containers, changed)


def _image_at(data: Object, path: str) -> str:
    """Return the image at a predicate's path. Its steps are not unescaped, unlike in a JSON
    pointer.
    """
    value: Any = data
    *way, last = path.strip("/").split("/")
    for step in way:
        if isinstance(value, list):
            value = _item(value, step)
        else:
            value = value.get(step)
            if not isinstance(value, Mapping | list):
                raise ValueError(
                    f"path({step}) of rawObj's type is not map[string]interface{{}} and"
                    " []interface{}"
                )
    image = value.get(last) if isinstance(value, Mapping) else None
    if not isinstance(image, str):
        raise ValueError(f"failed to convert path({last}) to string")
    return image


def _item(items: list[Any], step: str) -> Any:
    if not step.isdecimal():
        raise ValueError(f"path({step}) of rawObj's is not number")
    # Karmada does not check this and panics; the text is that of Go's runtime (imageoverride.go).
    if integer(step) >= len(items):
        raise ValueError(f"index out of range [{step}] with length {len(items)}")
    return items[integer(step)]


# Members mostly get the same images by the same rules.
@lru_cache(maxsize=4096)
def _overridden_image(text: str, overrider: ImageOverrider) -> str:
    try:
        image = Image.parse(text)
    except ValueError as error:
        failed, why = "failed to parse image value", f", error: {error}"
        raise OverrideError(f"{failed}({text}){why}", failed + why) from None
    return str(_changed(image, overrider))


def _changed(image: Image, overrider: ImageOverrider) -> Image:
    match overrider.component:
        case "Registry":
            return attrs.evolve(image, registry=_edited(image.registry, overrider))
        case "Repository":
            return attrs.evolve(image, repository=_edited(image.repository, overrider))
    if overrider.operator == "remove":
        return attrs.evolve(image, tag="", digest="")
    return image.with_tag_or_digest(_edited(image.tag_or_digest, overrider))


def _edited(part: str, overrider: ImageOverrider) -> str:
    match overrider.operator:
        case "add":
            return part + overrider.value
        case "replace":
            return overrider.value
    return ""


def _override_words(
    data: Object, target: str, overriders: Sequence[CommandArgsOverrider]
) -> Object:
    """Return the object with the commands or args of its containers changed by one overrider
    after the other.
    """
    by_name: dict[Any, list[CommandArgsOverrider]] = {}
    for overrider in overriders:
        by_name.setdefault(overrider.container_name, []).append(overrider)
    # Without an overrider of this kind, containers of an unusual form are no error.
    containers, changed = containers_of(data) if by_name else [], {}
    for number, container in enumerate(containers):
        name = container.get("name")
        if isinstance(name, str) and name in by_name:
            # As in Karmada, removing words from a container without the field adds the field as an
            # empty list.
            words = [str(word) for word in container.get(target) or ()]
            changed[number] = {**container, target: reduce(_overridden_words, by_name[name], words)}
    return with_containers(data, containers, changed)


def _overridden_words(words: list[str], overrider: CommandArgsOverrider) -> list[str]:
    if overrider.operator == "add":
        return [*words, *overrider.value]
    removed = set(overrider.value)
    return [word for word in words if word not in removed]


def _override_texts(data: Object, part: str, overrider: LabelAnnotationOverrider) -> Object:
    """Return the object with labels or annotations changed. Replacing or removing an absent key
    has no effect.
    """
    metadata = data.get("metadata") or {}
    texts = dict(metadata.get(part) or {})
    for key, value in overrider.value.items():
        if overrider.operator == "add" or key in texts:
            texts[key] = value
        if overrider.operator == "remove":
            texts.pop(key, None)
    if texts == (metadata.get(part) or {}):
        return data
    return {**data, "metadata": {**metadata, part: texts}}


def _override_field(
    data: Object,
    path: str,
    overriders: Sequence[FieldOverrider],
    budget: OverriderBudget,
    *,
    is_yaml: bool,
) -> Object:
    """Return the object with the document in a field patched by one overrider after the other,
    read and written once.

    Karmada reads and writes it for each of them, so that a value may be written otherwise once
    another one follows.
    """
    text = _lookup(data, path)
    if not isinstance(text, str):
        raise OverrideError(f"Get object's value by overrider's path({path}) is not string")
    budget.spend_characters(len(text))
    if not is_yaml:
        return _replaced(
            data,
            path,
            patch_json(text, (_operation(it, it.value) for item in overriders for it in item.json)),
        )
    # Karmada writes and reads back all but the last, which changes the notation of their values.
    *others, last = overriders
    operations = [_operation(it, settled(it.value)) for item in others for it in item.yaml]
    return _replaced(
        data, path, patch_yaml(text, [*operations, *(_operation(it, it.value) for it in last.yaml)])
    )


def _operation(operation: PatchOperation, value: Any) -> Operation:
    return Operation(operation.operator, operation.sub_path, value)


def _lookup(value: Any, path: str) -> Any:
    if path and not path.startswith("/"):
        raise OverrideError('JSON pointer must be empty or start with a "/"\nJSON pointer error')
    for step in pointer_steps(path):
        value = _child(value, step)
    return value


def _child(value: Any, step: str) -> Any:
    quoted = json.dumps(step, ensure_ascii=False)
    if value is None:
        raise OverrideError(f"nil value has no field {quoted}: JSON pointer error")
    if isinstance(value, Mapping):
        if step not in value:
            raise OverrideError(f"object has no key {quoted}: JSON pointer error")
        return value[step]
    if not isinstance(value, list):
        raise OverrideError(f"invalid token reference {quoted}: JSON pointer error")
    if not step.isdecimal():
        raise OverrideError(f"strconv.Atoi: parsing {quoted}: invalid syntax\nJSON pointer error")
    if integer(step) >= len(value):
        raise OverrideError(
            f"index out of bounds array[0,{len(value) - 1}] index '{integer(step)}': JSON pointer"
            " error"
        )
    return value[integer(step)]


def _replaced(data: Object, path: str, text: str) -> Object:
    patched: Object = apply_patch(data, [Operation("replace", path, text)])
    return patched


def containers_of(data: Object) -> list[Mapping[str, Any]]:
    """Return the containers of a pod or of a workload with a pod template; none for other kinds."""
    kind = data.get("kind", "")
    value: Any = data
    # Karmada does not change initContainers.
    for step in (*_POD_SPEC_PATHS[kind], "containers") if kind in _POD_SPEC_PATHS else ():
        if not isinstance(value, Mapping):
            raise OverrideError(
                f"failed to convert {kind} from unstructured object: {step} stands in no object"
            )
        value = value.get(step) or {}
    if not isinstance(value, list):
        return []
    if not all(isinstance(container, Mapping) for container in value):
        raise OverrideError(
            f"failed to convert {kind} from unstructured object: a container is not an object"
        )
    if not all(isinstance(container.get("image") or "", str) for container in value):
        raise OverrideError(
            f"failed to convert {kind} from unstructured object: an image is not text"
        )
    if not all(
        isinstance(container.get(words), list | None)
        for container in value
        for words in ("command", "args")
    ):
        raise OverrideError(
            f"failed to convert {kind} from unstructured object: a command or its args are not a"
            " list"
        )
    return value


def with_containers(data: Object, containers: Sequence[Any], changed: Mapping[int, Any]) -> Object:
    """Return the object with other containers at some positions."""
    if not changed:
        return data
    # A copy, since the list belongs to the given object.
    items = list(containers)
    for number, container in changed.items():
        items[number] = container
    made: Object = _with(data, (*_POD_SPEC_PATHS[data["kind"]], "containers"), items)
    return made


def _with(data: Any, path: tuple[str, ...], value: Any) -> Any:
    return {**data, path[0]: _with(data[path[0]], path[1:], value)} if path else value
