"""Image references, and the overrides of their parts."""

from __future__ import annotations

import pytest

from fleet_components.systems.karmada.content.embedded import Image

SHA = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nginx", Image("", "nginx")),
        ("nginx:1.19", Image("", "nginx", "1.19")),
        ("team/nginx", Image("", "team/nginx")),
        ("docker.io/library/nginx:1", Image("docker.io", "library/nginx", "1")),
        ("reg:5000/a/b/c:v1", Image("reg:5000", "a/b/c", "v1")),
        ("localhost/x:1", Image("localhost", "x", "1")),
        ("[::1]:5000/x", Image("[::1]:5000", "x")),
        (f"r.io/x@{SHA}", Image("r.io", "x", digest=SHA)),
        (f"r.io/x:1@{SHA}", Image("r.io", "x", "1")),
    ],
)
def test_references_are_taken_apart(text: str, expected: Image) -> None:
    assert Image.parse(text) == expected
    assert str(expected) == text.partition("@")[0] if expected.tag else str(expected) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "repository name must have at least one component"),
        ("x/UPPER", "repository name must be lowercase"),
        ("two words", "invalid reference format"),
        ("a..b", "invalid reference format"),
        ("x:" + "t" * 129, "invalid reference format"),
        ("a/" * 130 + "x", "repository name must not be more than 255 characters"),
        ("x@md5:" + "a" * 32, "unsupported digest algorithm"),
        ("x@sha256:" + "a" * 40, "invalid checksum digest length"),
        ("x@sha256:" + "A" * 64, "invalid checksum digest format"),
    ],
)
def test_what_is_no_reference_is_refused(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=f"^{error}$"):
        Image.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2.0", "x:2.0"), (SHA, f"x@{SHA}"), ("v 1", "x:1"), ("", "x:1"), ("@x", "x:1")],
)
def test_what_is_neither_tag_nor_digest_changes_nothing(text: str, expected: str) -> None:
    assert str(Image.parse("x:1").with_tag_or_digest(text)) == expected
