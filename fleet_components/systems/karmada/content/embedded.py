"""Patches the JSON or YAML document that a string field holds, and writes it as Karmada does.

Source: ``applyFieldOverriders`` in ``pkg/util/overridemanager/overridemanager.go`` of Karmada 1.19.
JSON keeps the order of its keys and the notation of its numbers. YAML goes through
``sigs.k8s.io/yaml``: it is read by YAML 1.1 rules and written with sorted keys.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import attrs
import yaml

from fleet_components.content.guarded import UnreadableError, read_json, read_nodes
from fleet_components.content.patch import Operation, apply_patch
from fleet_components.content.scalar import plain

_TIME = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"([Tt][0-9:]+(\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})|"
    r" [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?)?"
)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_STRING = "tag:yaml.org,2002:str"
# Go's encoding/json escapes these characters by default, so that JSON is safe inside HTML.
_HTML = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


class _Number(str):
    """A JSON number in its original notation."""

    __slots__ = ()


def patch_json(text: str, operations: Iterable[Operation]) -> str:
    """Return the JSON document after the operations. An empty text stays empty.

    Raises:
        ValueError: the text is not a JSON object, list or null.
        PatchError: an operation cannot be applied.
    """
    if not text:
        return text
    try:
        document = read_json(text, _Number)
    except UnreadableError:
        raise ValueError("invalid state detected") from None
    return _write_json(_patched(document, operations))


def patch_yaml(text: str, operations: Iterable[Operation]) -> str:
    """Return the YAML document after the operations.

    Raises:
        ValueError: the text is not a YAML mapping, sequence or null.
        PatchError: an operation cannot be applied.
    """
    try:
        document = _construct(read_nodes(text))
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"yaml: {_where(error)}{_unquoted(error.problem)}") from None
    patched = _patched(document, operations)
    text = yaml.dump(
        patched, Dumper=_GoDumper, allow_unicode=True, default_flow_style=False, sort_keys=False
    )
    return str(text)


def _unquoted(problem: str | None) -> str:
    """Return a message of the YAML parser without the name of an anchor or tag, which may be a
    secret value.
    """
    return re.sub(r" ?'.*'", "", problem or "")


def settled(value: Any) -> Any:
    """Return a value as it is read back from the YAML in which :func:`patch_yaml` writes it."""
    if isinstance(value, Mapping):
        return {key: settled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [settled(item) for item in value]
    return plain(_shortest(value)) if isinstance(value, float) else value


def _where(error: yaml.MarkedYAMLError) -> str:
    """Return the position of an error as Go's yaml package writes it; empty for the first line.

    Lines count from 1 for scanner errors, but from 0 for all others.
    """
    mark = error.problem_mark
    line = mark.line + isinstance(error, yaml.scanner.ScannerError) if mark and mark.line else 0
    return f"line {line}: " if line else ""


def _patched(document: Any, operations: Iterable[Operation]) -> Any:
    if document is None or isinstance(document, Mapping | list):
        return apply_patch(document, operations)
    kind = "string" if type(document) is str else "bool" if isinstance(document, bool) else "number"
    raise ValueError(
        f"json: cannot unmarshal {kind} into Go value of type map[string]*jsonpatch.lazyNode"
    )


def _write_json(value: Any) -> str:
    if isinstance(value, _Number):
        return str(value)
    if isinstance(value, Mapping):
        return (
            "{"
            + ",".join(f"{_write_json(key)}:{_write_json(part)}" for key, part in value.items())
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(map(_write_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False).translate(_HTML)


def _construct(node: yaml.Node | None) -> Any:
    """Return the value of a node. Dates stay text, keys become text."""
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _construct_mapping(node)
    if not isinstance(node, yaml.ScalarNode):
        return None
    # Only a plain scalar is resolved: one in quotes, in a block or with a tag of its own stays
    # text.
    return node.value if node.style or node.tag != _STRING else plain(node.value)


def _construct_mapping(node: yaml.MappingNode) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        # A "<<" in quotes is an ordinary key.
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and not key.style:
            merged = _construct(value)
            # In reverse, because the first of several merged mappings wins. All of them win over
            # keys that stand before the merge.
            for part in reversed(merged) if isinstance(merged, list) else [merged]:
                if not isinstance(part, Mapping):
                    raise ValueError(
                        "yaml: map merge requires map or sequence of maps as the value"
                    )
                mapping.update(part)
        else:
            mapping[_key(_construct(key))] = _construct(value)
    return mapping


def _key(value: Any) -> str:
    if value is None or isinstance(value, dict | list):
        raise ValueError("yaml: unsupported map key")
    return value if isinstance(value, str) else _write_scalar(value)


def _write_scalar(value: bool | float | None) -> str:
    return _shortest(value) if isinstance(value, float) else json.dumps(value)


def _shortest(number: float) -> str:
    """Format a float as Go's %g does: with an exponent below 1e-4 and from 1e6 on."""
    # Like Go, repr gives the fewest digits that are read back as the same float.
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    point = len(digits) + int(exponent)
    if -4 < point <= 6:
        return f"{Decimal(repr(number)):f}"
    mantissa = "".join(map(str, digits))
    fraction = f".{mantissa[1:]}" if mantissa[1:] else ""
    return f"{'-' if sign else ''}{mantissa[0]}{fraction}e{point - 1:+03d}"


def _needs_quotes(text: str) -> bool:
    """Return whether the text, written without quotes, would be read back as another type by some
    YAML 1.1 reader.
    """
    try:
        return not isinstance(plain(text), str) or bool(
            _TIME.fullmatch(text) or _BASE_60.fullmatch(text)
        )
    except ValueError:
        return True


def _natural(key: str) -> list[tuple[int, int, int, str]]:
    """Return the sort key of a map key in Go's yaml package: letters last, runs of digits by their
    number.
    """
    parts: list[tuple[int, int, int, str]] = []
    for run in re.findall(r"[0-9]+|.", key, re.DOTALL):
        if run.isdecimal():
            parts.append((0, int(run), len(run), run))
        else:
            parts.append((1 if run.isalpha() else 0, 0, 0, run))
    return parts


class _GoDumper(yaml.BaseDumper):
    """Writes plain data. Every scalar is given as a string, so that only the rules of this module
    decide on quotes.
    """

    # Go's encoder writes a value out wherever it occurs; PyYAML would write an anchor for one that
    # occurs twice.
    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, text: str) -> yaml.Node:
        beyond_16_bits = any(ord(sign) > 0xFFFF for sign in text)  # Go's emitter escapes those
        style = (
            '"' if beyond_16_bits else "|" if "\n" in text else '"' if _needs_quotes(text) else None
        )
        return self.represent_scalar(_STRING, text, style)

    def represent_other(self, value: bool | float | None) -> yaml.Node:
        return self.represent_scalar(_STRING, _write_scalar(value))

    def represent_map(self, value: Mapping[str, Any]) -> yaml.Node:
        return self.represent_mapping(
            "tag:yaml.org,2002:map", sorted(value.items(), key=lambda item: _natural(item[0]))
        )

    def represent_list(self, value: list[Any]) -> yaml.Node:
        return self.represent_sequence("tag:yaml.org,2002:seq", value)


_GoDumper.add_representer(str, _GoDumper.represent_text)
_GoDumper.add_representer(dict, _GoDumper.represent_map)
_GoDumper.add_representer(list, _GoDumper.represent_list)
for _kind in (bool, int, float, type(None)):
    _GoDumper.add_representer(_kind, _GoDumper.represent_other)


# Image references, parsed and formatted as Karmada does.
#
# Source: ``pkg/util/imageparser/parser.go`` of Karmada 1.19 and the grammar of
# ``distribution/reference``. A digest beside a tag is dropped; the registry of ``nginx`` is
# empty, not docker.io.


_PART = r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
_PATH = rf"{_PART}(?:/{_PART})*"
_HOST_PART = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST = rf"(?:{_HOST_PART}(?:\.{_HOST_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(rf"((?:{_HOST}/)?{_PATH})(?::({_TAG}))?(?:@({_DIGEST}))?")
_NAME = re.compile(rf"(?:{_HOST}/)?({_PATH})")
_DIGEST_SIZES = {"sha256": 64, "sha384": 96, "sha512": 128}
_MAX_PATH = 255


@attrs.frozen
class Image:
    """An image reference: ``[registry/]repository[:tag]`` or ``[registry/]repository[@digest]``."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""

    @classmethod
    def parse(cls, text: str) -> Image:
        """Parse an image reference.

        Raises:
            ValueError: the text is not an image reference; the message is the one that Karmada
                shows.
        """
        match = _REFERENCE.fullmatch(text)
        if not match:
            raise ValueError(_what_is_wrong(text))
        name, tag, digest = match.groups(default="")
        path = _NAME.fullmatch(name)
        if path and len(path[1]) > _MAX_PATH:
            raise ValueError(f"repository name must not be more than {_MAX_PATH} characters")
        if digest:
            _check_digest(digest)
        # The first part is a host only if it looks like one: library/nginx has no registry.
        first, slash, rest = name.partition("/")
        has_registry = slash and (first == "localhost" or "." in first or ":" in first)
        registry, repository = (first, rest) if has_registry else ("", name)
        return cls(registry, repository, tag, "" if tag else digest)

    def __str__(self) -> str:
        name = f"{self.registry}/{self.repository}" if self.registry else self.repository
        if self.tag:
            return f"{name}:{self.tag}"
        return f"{name}@{self.digest}" if self.digest else name

    @property
    def tag_or_digest(self) -> str:
        """The tag; the digest if there is no tag."""
        return self.tag or self.digest

    def with_tag_or_digest(self, text: str) -> Image:
        """Return the image with this tag or digest; unchanged if the text is neither."""
        if re.fullmatch(_TAG, text):
            return attrs.evolve(self, tag=text, digest="")
        if re.fullmatch(_DIGEST, text):
            return attrs.evolve(self, tag="", digest=text)
        return self


def _what_is_wrong(text: str) -> str:
    if not text:
        return "repository name must have at least one component"
    if _REFERENCE.fullmatch(text.lower()):
        return "repository name must be lowercase"
    return "invalid reference format"


def _check_digest(digest: str) -> None:
    algorithm, _, encoded = digest.partition(":")
    if algorithm not in _DIGEST_SIZES:
        known_form = re.fullmatch(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*", algorithm)
        raise ValueError(
            "unsupported digest algorithm" if known_form else "invalid checksum digest format"
        )
    if len(encoded) != _DIGEST_SIZES[algorithm]:
        raise ValueError("invalid checksum digest length")
    if encoded != encoded.lower():
        raise ValueError("invalid checksum digest format")
