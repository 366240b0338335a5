"""The one reader of YAML and JSON that somebody else has written: no text crashes it, and no
message has a value of it.

Manifests are read by ``load.py``, on the same parser, because their messages do show what is
written.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from fleet_components.content.document import MOST_ALIASED, MOST_LEVELS, documents
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# A pair is consumed first, as is an escaped backslash, whose u begins no escape.
_HALF_PAIR = re.compile(r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]|(?P<half>\\u[dD][89a-fA-F])")
_HALF = re.compile(r"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_BINARY = "tag:yaml.org,2002:binary"
_TOO_DEEP = Message(
    "nested-more-than-levels",
    "is nested more than {most_levels} levels deep",
    most_levels=MOST_LEVELS,
)


class UnreadableError(ValueError):
    """Error for a text that cannot be read.

    Attributes:
        message: the error, as for a :class:`Problem`.
        line: its line, from 1; None if unknown.
    """

    def __init__(self, message: Message, line: int | None = None) -> None:
        self.message, self.line = message, line
        super().__init__(message)

    def problem(self, file: str, hint: str = "") -> Problem:
        """Return the error as a problem of a file."""
        return Problem(self.message, file=file, line=self.line, hint=hint)


def read_json(
    text: str | bytes, number: Callable[[str], Any] | None = None, *, unique: bool = False
) -> Any:
    """Return the value of a JSON text.

    Args:
        text: the text; bytes are UTF-8.
        number: called with the text of every number, instead of making an int or a float of it.
        unique: True to refuse a key that a map has twice. Otherwise the last one counts, as in Go.

    Raises:
        UnreadableError: the text is not JSON, or is nested too deeply.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        hook = _unique if unique else None
        value = json.loads(decoded, parse_int=number, parse_float=number, object_pairs_hook=hook)
    except RecursionError:
        raise UnreadableError(_TOO_DEEP) from None
    # Of the hook. It is a ValueError too, which is caught below.
    except UnreadableError:
        raise
    except UnicodeDecodeError:
        raise UnreadableError(Message("not-utf-text", "is not UTF-8 text")) from None
    except json.JSONDecodeError as error:
        raise UnreadableError(
            Message(
                "not-json-character",
                "is not JSON: {msg}, at character {colno}",
                msg=error.msg,
                colno=error.colno,
            ),
            error.lineno,
        ) from None
    except ValueError:  # a number with thousands of digits
        raise UnreadableError(
            Message("not-json-number-too", "is not JSON: it has a number that is too long")
        ) from None
    if ("\\ud" in decoded or "\\uD" in decoded) and any(
        found["half"] for found in _HALF_PAIR.finditer(decoded)
    ):
        # No text that can be written anywhere.
        raise UnreadableError(
            Message("not-json-half-surrogate", "is not JSON: it has half of a surrogate pair")
        )
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UnreadableError(Message("not-json-key-twice", "is not JSON: has a key twice"))
    return found


def read_yaml(text: str | bytes) -> Any:
    """Return the value of a YAML text with one document, by the rules of kubectl; None if it is
    empty.

    Raises:
        UnreadableError: the text is not YAML, has several documents, is nested too deeply, or grows
            by its aliases.
    """
    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError(Message("not-utf-text", "is not UTF-8 text")) from None
    problems: list[Problem] = []
    found = list(documents(decoded, "", problems))
    if problems:
        raise UnreadableError(Message("not-valid-yaml", "is not valid YAML"), problems[0].line)
    if len(found) > 1:
        raise UnreadableError(
            Message("several-yaml-documents", "has several YAML documents"),
            found[1].section(()).line(),
        )
    return found[0].data if found else None


def read_nodes(text: str) -> yaml.Node | None:
    """Return the nodes of a YAML text with one document, with scalars as they are written.

    Raises:
        yaml.MarkedYAMLError: the text is not YAML.
        UnreadableError: it has characters that YAML does not allow, is nested too deeply, or grows
            by its aliases.
    """
    # First, since composing is what a text that is too deep would crash.
    _check_depth(text)
    root = yaml.compose(text, Loader=_Loader)
    _check_nodes(root, text)
    return root


def read_documents(text: str) -> list[yaml.Node]:
    """Return the nodes of all documents of a YAML text, with the places at which they are written.

    Raises:
        UnreadableError: the text is not YAML, is nested too deeply, or grows by its aliases.
    """
    try:
        _check_depth(text)
        # Not the loader in C: its places are those of another encoding.
        roots = [root for root in yaml.compose_all(text, yaml.SafeLoader) if root]
    except yaml.YAMLError:
        raise UnreadableError(Message("text-not-yaml", "is not YAML")) from None
    for root in roots:
        _check_nodes(root, text)
    return roots


def _check_nodes(root: yaml.Node | None, text: str) -> None:
    """Refuse nodes that are nested too deeply, or that aliases have made too many of."""
    # A stack instead of recursion: aliases can make the nodes a cycle.
    seen, open_ = 0, [(root, 0)]
    while open_:
        node, level = open_.pop()
        seen += 1
        if level > MOST_LEVELS:  # an alias to itself too
            raise UnreadableError(_TOO_DEEP)
        # There are hardly more nodes than characters written, so a number far beyond comes from
        # aliases.
        if seen > MOST_ALIASED + len(text):
            raise UnreadableError(
                Message(
                    "document-contains-excessive-aliasing", "document contains excessive aliasing"
                )
            )
        if isinstance(node, yaml.CollectionNode):
            pairs = (
                node.value
                if isinstance(node, yaml.MappingNode)
                else [(item,) for item in node.value]
            )
            open_ += [(part, level + 1) for pair in pairs for part in pair]


def read_scalars(text: str) -> Iterator[tuple[str, str]]:
    """Yield the scalars of all documents of a YAML or JSON text, each with its key, which is empty
    in a list.

    An alias of a scalar is that scalar, and a ``!!binary`` one its decoded text. Keys are scalars
    as well. Nothing is built, so that no depth and no number of aliases costs more than the text.

    Raises:
        UnreadableError: the text is not YAML. What stands before the error has been yielded.
    """
    # YAML knows no surrogates, and which sign a pair stands for does not matter here.
    text = (
        _HALF.sub(lambda found: found[0] if found[0] == r"\\" else "?", text)
        if "\\u" in text
        else text
    )
    anchors: dict[str, str] = {}
    # Of the open collections; None where a key comes next, empty in a list.
    keys: list[str | None] = [""]
    try:
        for event in yaml.parse(text, Loader=_Loader):
            match event:
                # Anchors end with their document.
                case DocumentStartEvent():
                    anchors.clear()
                case CollectionEndEvent():
                    keys.pop()
                case NodeEvent():
                    value = _scalar(event, anchors)
                    key, keys[-1] = keys[-1], _next_key(keys[-1], value)
                    if isinstance(event, CollectionStartEvent):
                        keys.append(None if isinstance(event, MappingStartEvent) else "")
                    elif value:
                        yield key or "", value
    except (yaml.YAMLError, ValueError):
        raise UnreadableError(Message("text-not-yaml", "is not YAML")) from None


def _next_key(key: str | None, value: str) -> str | None:
    """Return what stands for the key after a value: see :func:`read_scalars`."""
    if key == "":
        return ""
    # An empty key becomes a blank, because the empty text stands for a list.
    return None if key else value or " "


def _scalar(event: NodeEvent, anchors: dict[str, str]) -> str:
    """Return the text of a scalar or of an alias of one; a space for a collection."""
    if isinstance(event, AliasEvent):
        return anchors.get(event.anchor or "", " ")
    value = _written(event) if isinstance(event, ScalarEvent) else " "
    if event.anchor:
        anchors[event.anchor] = value
    return str(value)


def _written(event: ScalarEvent) -> str:
    """Return the text of a scalar; of one in base64, what it stands for in a field of type
    string.
    """
    if event.tag != _BINARY:
        return str(event.value)
    try:
        return base64.b64decode(event.value).decode(errors="replace")
    except ValueError:
        raise UnreadableError(Message("text-not-yaml", "is not YAML")) from None


def _check_depth(text: str) -> None:
    """Raise an error for a text that is nested too deeply: composing it could exhaust the stack of
    the C library.
    """
    level = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            level += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if level > MOST_LEVELS:
                raise UnreadableError(_TOO_DEEP)
    except yaml.reader.ReaderError as error:
        raise UnreadableError(
            Message("yaml-syntax", "is not YAML: {reason}", reason=error.reason)
        ) from None
