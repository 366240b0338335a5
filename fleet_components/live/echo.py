"""Takes the credential of a request out of its answer: a server may repeat what it was sent, in any
field.

It is looked for as it is, in base64 and base64url at each of the three alignments, quoted as in
addresses, and in hexadecimal digits. JSON that spells it with escapes is spelled plainly first.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote

from fleet_components.live.credentials import HIDDEN, SHORTEST

_ESCAPED = re.compile(rb"\\(?:u00(2[013-9a-fA-F]|[3467][0-9a-fA-F]|5[0-9abdefABDEF])|(/)|.)")
"""An escape of JSON; in its first group the code of a sign that may stand for itself as well."""
_QUOTED = re.compile("%[0-9A-F]{2}")


def without_credential(content: bytes, header: str) -> bytes:
    """Return a JSON text, or any other one, in which the credential is hidden.

    Args:
        content: the text.
        header: the value of ``Authorization`` that was sent; empty for none.
    """
    found = _forms(header)
    if not found:
        return content
    if b"\\u00" in content or b"\\/" in content:
        content = _ESCAPED.sub(_plain, content)
    for form in found:
        content = content.replace(form, HIDDEN.encode())
    return content


class Spelled:
    """Secrets in each way in which they may be written, in a text of any program.

    It takes a time that grows with the text, not with the number of secrets.

    Args:
        secrets: the secrets; the very short ones are not looked for.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        # An index by the first characters, so that a text is scanned once and not once for each
        # form.
        self._forms: dict[str, list[str]] = {}
        for form in map(bytes.decode, _spellings(set(secrets))):
            self._forms.setdefault(form[:SHORTEST], []).append(form)

    def hidden(self, text: str) -> str:
        """Return a text in which the secrets are hidden."""
        beginnings = (text[place : place + SHORTEST] for place in range(len(text)))
        possible = [
            form for item in self._forms.keys() & set(beginnings) for form in self._forms[item]
        ]
        for form in sorted(possible, key=len, reverse=True):
            text = text.replace(form, HIDDEN)
        return text


def _plain(found: re.Match[bytes]) -> bytes:
    code, slash = found.groups()
    return slash or (bytes((int(code, 16),)) if code else found[0])


@lru_cache(64)
def _forms(header: str) -> tuple[bytes, ...]:
    """Return the texts that are looked for, the longest first, since one may be a part of
    another.
    """
    return tuple(sorted(_spellings(_secrets(header)), key=len, reverse=True))


def _spellings(secrets: Iterable[str]) -> set[bytes]:
    """Return every way to write each of the secrets that are long enough to be looked for."""
    return {
        form for secret in secrets if len(secret) >= SHORTEST for form in _written(secret.encode())
    }


def _secrets(header: str) -> Iterator[str]:
    scheme, _, secret = header.partition(" ")
    yield secret
    if scheme.casefold() == "basic":
        with suppress(ValueError):
            pair = b64decode(secret).decode()
            yield from (pair, pair.partition(":")[2])
    else:
        yield secret.rpartition(".")[2]  # the signature of a JSON web token


def _written(secret: bytes) -> Iterator[bytes]:
    yield secret
    # Base64 at the three alignments: the first digits depend also on the bytes before the secret.
    for offset, unsure in enumerate((0, 2, 3)):
        # Digits that nothing behind the secret has a part in.
        whole = (offset + len(secret)) * 8 // 6
        for encode in (b64encode, urlsafe_b64encode):
            digits = encode(bytes(offset) + secret)[unsure:whole]
            yield digits
            yield quote(digits, safe="").encode()
    for safe in ("", "/"):
        quoted = quote(secret, safe=safe)
        yield from (quoted.encode(), _QUOTED.sub(lambda found: found[0].lower(), quoted).encode())
    yield from (secret.hex().encode(), secret.hex().upper().encode())
