"""Declaration of the HTTP proxy of nodes and pods.

Source: ``httpProxyConfig`` of ``managedClusters`` at API version 2025-09-01, and "HTTP proxy support in AKS"
(Microsoft, 2026).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

import attrs

from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.typed import Later, Typed

_MOST_CERTIFICATES = 20
_WILDCARD = re.compile("\\*\\.?[A-Za-z0-9]")
_BEGIN = b"-----BEGIN CERTIFICATE-----"


@attrs.frozen(kw_only=True)
class HttpProxy(Typed):
    """The proxy by which nodes and pods reach the internet. A change of it makes Azure reimage all nodes.

    It can be added later but not removed: at this API version a request cannot take it away.

    Attributes:
        http: the proxy's address for HTTP, as ``http://proxy.example:8080``, without user and password.
        https: the proxy's address for HTTPS.
        no_proxy: host names, domains and ranges that are reached directly; Azure adds those that the cluster needs.
        trusted_ca: up to 20 further certificates that nodes trust, as PEM in base64. A Pulumi output is accepted.
    """

    http: str | None = None
    https: str | None = None
    no_proxy: tuple[str, ...] = ()
    trusted_ca: str | Later | None = None

    def problems(self, path: FieldPath) -> Iterator[Problem]:
        """Yield Azure validation errors."""
        if self.http is None and self.https is None:
            yield Problem("names no proxy", (*path, "http"), "http, https or both")
        for field, address in (("http", self.http), ("https", self.https)):
            if address is not None:
                yield from _address_problems(address, (*path, field))
        for position, name in enumerate(self.no_proxy):
            if not name or _WILDCARD.match(name) or re.search(r"\s", name):
                hint = "a host name, a domain such as .corp.example, or a range"
                yield Problem(f'"{name}" is not taken', (*path, "noProxy", position), hint)
        if isinstance(self.trusted_ca, str):
            yield from _certificate_problems(self.trusted_ca, (*path, "trustedCa"))


def _address_problems(address: str, path: FieldPath) -> Iterator[Problem]:
    parts = _parts(address)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        yield Problem(f'"{address}" is not the address of a proxy', path, "for example http://proxy.example:8080")
    elif parts.username is not None or parts.password is not None:
        yield Problem("Azure takes no user and password of a proxy", path, "leave both out of the address")


def _parts(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        return parts if parts.port != 0 else None
    except ValueError:
        return None


def _certificate_problems(text: str, path: FieldPath) -> Iterator[Problem]:
    try:
        found = b64decode(text, validate=True).count(_BEGIN)
    except ValueError:
        found = 0
    if not 1 <= found <= _MOST_CERTIFICATES:
        yield Problem(
            "is not a list of certificates in base64", path, f"1 to {_MOST_CERTIFICATES} in PEM, through base64 -w0"
        )
