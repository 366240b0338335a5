"""The readers of what others have written, each as a function of one text, with the errors by which it refuses one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml
from hypothesis import strategies as st

from fleet_components.components.member import identity_in
from fleet_components.content.envelope import unwrap
from fleet_components.content.files import Text
from fleet_components.content.guarded import UnreadableError, read_json, read_nodes, read_yaml
from fleet_components.content.load import load_text
from fleet_components.content.patch import Operation, PatchError, apply_patch
from fleet_components.content.revision import decompress
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.cluster import read_time
from fleet_components.model.codec import MisfitError
from fleet_components.model.problem import FleetError
from fleet_components.model.quantity import parse_quantity
from fleet_components.option_values import WrongValueError
from fleet_components.options import KEYS
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.source import gather
from fleet_components.review.planning.past import parse_state
from fleet_components.review.planning.project import choose_stack, read_project
from fleet_components.review.planning.stack_config import read_stack_config
from fleet_components.systems.karmada.content.embedded import Image, patch_json, patch_yaml
from tests.fuzz.mutations import changed, cut, parsed, written

CORPUS = Path(__file__).parent / "corpus"
_PATCH = [Operation("add", "/a", {"b": [1]}), Operation("remove", "/a")]
_DOCUMENT = {"a": [1, {"b": 2}], "c": {"d/e": "f", "": None}}


def corpus(name: str) -> list[str]:
    """The texts that are kept for a reader."""
    return [file.read_text() for file in sorted((CORPUS / name).iterdir())]


@attrs.frozen
class Reader:
    """A reader of a text.

    Attributes:
        read: reads a text.
        refuses: the errors by which it refuses one.
        values: the values in a good text, and these as a text; None for a text without values.
    """

    read: Callable[[str], Any]
    refuses: tuple[type[Exception], ...] = (FleetError,)
    values: tuple[Callable[[str], Any], Callable[[Any], str]] | None = None

    def hostile(self, texts: list[str]) -> st.SearchStrategy[str]:
        """Texts that are made of good ones."""
        if self.values is None:
            return cut(texts)
        apart, together = self.values
        wholes = [whole for whole in map(apart, texts) if isinstance(whole, list | dict) and whole]
        return cut(texts) | changed(wholes).map(together)


def _json(text: str) -> Any:
    try:
        return read_json(text)
    except UnreadableError:
        return None


_JSON, _YAML = (_json, json.dumps), (parsed, written)


def _state(text: str) -> Past:
    found = parse_state(text.encode(), "in.json").sound()
    if found.problems:
        raise FleetError(found.problems)
    return found.only("fleet")[1]


def _stack(text: str) -> list[Any]:
    """A project and a stack, as two documents, and the values of the stack that a fleet hears."""
    project, _, stack = text.partition("\n---\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {
            "__main__.py": "",
            "Pulumi.yaml": project,
            "Pulumi.dev.yaml": stack,
        }.items():
            Path(folder, name).write_text(content)
        read = read_project(Path(folder))
        values = read_stack_config(read, choose_stack(read, None)).values
    heard = {key.removeprefix("fleet:"): value for key, value in values.items()}
    return [KEYS[key].parsed(value) for key, value in heard.items() if key in KEYS and value]


def _patched(pointer: str) -> list[Any]:
    found = []
    for operation in ("add", "remove", "replace"):
        try:
            found.append(apply_patch(_DOCUMENT, [Operation(operation, pointer, [1])]))
        except PatchError as error:
            found.append(str(error))
    return found


READERS: Mapping[str, Reader] = {
    "manifests": Reader(lambda text: load_text(text, "in.yaml"), values=_YAML),
    "fleets": Reader(
        lambda text: plan_fleet(gather(Text("in.yaml", text)), Past(), Options()), values=_YAML
    ),
    "envelopes": Reader(lambda text: [*map(unwrap, load_text(text, "in.yaml"))], values=_YAML),
    "states": Reader(_state, values=_JSON),
    "stacks": Reader(_stack, (FleetError, WrongValueError), _YAML),
    "kubeconfigs": Reader(
        lambda text: (read_kubeconfig(text, "a"), identity_in(text, "a")), values=_YAML
    ),
    "json": Reader(read_json, (UnreadableError,), _JSON),
    "yaml": Reader(read_yaml, (UnreadableError,), _YAML),
    "nodes": Reader(read_nodes, (UnreadableError, yaml.MarkedYAMLError), _YAML),
    "embedded-json": Reader(lambda text: patch_json(text, _PATCH), (ValueError, PatchError), _JSON),
    "embedded-yaml": Reader(lambda text: patch_yaml(text, _PATCH), (ValueError, PatchError), _YAML),
    "revisions": Reader(decompress, (MisfitError,)),
    "quantities": Reader(parse_quantity, (ValueError,)),
    "times": Reader(read_time, (ValueError,)),
    "images": Reader(Image.parse, (ValueError,)),
    "pointers": Reader(_patched),
}
"""The readers by the folder of their corpus."""
