"""Image references, parsed and formatted as Karmada does.

Source: ``pkg/util/imageparser/parser.go`` of Karmada 1.19 and the grammar of
``distribution/reference``. A digest beside a tag is dropped; the registry of ``nginx`` is empty,
not docker.io.
"""

from __future__ import annotations

import re

import attrs

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
