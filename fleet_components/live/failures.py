"""Reasons for which there is no usable answer, in words, with what would do.

The words of libraries are not repeated: they may have the address of a cluster with a password in
it, and more.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator, Mapping
from http import client as http

import attrs

from fleet_components.hub.listing import FORBIDDEN
from fleet_components.live.exchange import Received

NOT_KUBERNETES = "is not answered as Kubernetes does"
CHECK_SERVER = "check the server of the kubeconfig"
_PROXIES = "check HTTPS_PROXY and NO_PROXY, and the server of the kubeconfig"
_CLOCK = "ask for a new certificate of the API server, or check the clock of this machine"
_NETWORK = f"{CHECK_SERVER}, and that a VPN or firewall lets you there"


@attrs.frozen
class RequestFailure:
    """A reason.

    Attributes:
        what: the reason, in words that follow what was asked for.
        hint: what would do; empty if nothing better can be said than to try again.
        passing: whether it may be otherwise a moment later.
    """

    what: str
    hint: str = ""
    passing: bool = False


# An empty text stands for the status itself, see of_status.
_STATUSES: Mapping[int, RequestFailure] = {
    http.BAD_REQUEST: RequestFailure(
        "", f"{CHECK_SERVER}: a port that takes https answers so where it has http"
    ),
    http.UNAUTHORIZED: RequestFailure(
        "is refused: the user of the kubeconfig is not known there, or no longer",
        "log in anew: its credentials have expired, or are of another cluster",
    ),
    http.FORBIDDEN: RequestFailure(FORBIDDEN),
    http.NOT_FOUND: RequestFailure("is not served", CHECK_SERVER),
    http.PROXY_AUTHENTICATION_REQUIRED: RequestFailure(
        "is refused by a proxy, which asks who you are", _PROXIES
    ),
    http.TOO_MANY_REQUESTS: RequestFailure("", "it limits requests: try again later"),
}
_CERTIFICATES: Mapping[int, RequestFailure] = {
    # Codes of OpenSSL: x509_vfy.h.
    9: RequestFailure("the certificate of the server is not valid yet", _CLOCK),
    10: RequestFailure("the certificate of the server has expired", _CLOCK),
    62: RequestFailure(
        "the certificate of the server is for another name",
        f"{CHECK_SERVER}: it has to be a name of the certificate",
    ),
    64: RequestFailure(
        "the certificate of the server is for another address",
        f"{CHECK_SERVER}: it has to be an address of the certificate",
    ),
}
_UNTRUSTED = RequestFailure(
    "the certificate of the server is not one that the kubeconfig trusts",
    "take its certificate-authority-data from the cluster anew; or something else answers there, a"
    " proxy perhaps",
)
_ERRNOS: Mapping[int, RequestFailure] = {
    errno.ECONNREFUSED: RequestFailure("nobody takes the connection there", _NETWORK, passing=True),
    errno.EHOSTUNREACH: RequestFailure("no way leads there", _NETWORK),
    errno.ENETUNREACH: RequestFailure("no way leads there", _NETWORK),
}
_BROKEN = RequestFailure("is not answered: the connection is broken off", passing=True)
_PAGE = "is answered with a web page, {}: a proxy or a login stands between"


def of_status(answer: Received) -> RequestFailure:
    """Return why an answer is none, from its status and type."""
    shown = f"{answer.status} {http.responses.get(answer.status, '')}".rstrip()
    # An API server answers with JSON: a page comes from something in between.
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        return RequestFailure(_PAGE.format(shown), _PROXIES)
    known = _STATUSES.get(answer.status, RequestFailure(""))
    return known if known.what else attrs.evolve(known, what=f"is answered with {shown}")


def of_no_json(answer: Received) -> RequestFailure:
    """Return why an answer is none that should be JSON, and is not."""
    page = of_status(answer)
    return page if page.hint == _PROXIES else RequestFailure(NOT_KUBERNETES, CHECK_SERVER)


def of_error(error: Exception) -> RequestFailure:
    """Return why there was no answer, from the error of the client."""
    from httpx2 import ConnectError, InvalidURL, ProxyError, UnsupportedProtocol

    if isinstance(error, (InvalidURL, UnsupportedProtocol)):
        return RequestFailure(
            "is not asked: the address in the kubeconfig is not one of http or https", CHECK_SERVER
        )
    if isinstance(error, ProxyError):
        return RequestFailure("is not asked: the proxy does not connect", _PROXIES)
    # From special to general: a certificate error is an SSLError, and all of these are OSErrors.
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return _not_asked(_CERTIFICATES.get(cause.verify_code, _UNTRUSTED))
        if isinstance(cause, ssl.SSLError):
            return _of_tls(cause)
        if isinstance(cause, socket.gaierror):
            return _not_asked(RequestFailure("its name is not known to DNS", _NETWORK))
        if isinstance(cause, OSError) and (cause.errno or 0) in _ERRNOS:
            return _not_asked(_ERRNOS[cause.errno or 0])
    return (
        _not_asked(RequestFailure("there is no connection", _NETWORK, True))
        if isinstance(error, ConnectError)
        else _BROKEN
    )


def _of_tls(error: ssl.SSLError) -> RequestFailure:
    reason = (error.reason or "").upper()
    # OpenSSL names an alert that the server has sent ``..._ALERT_...``.
    if "ALERT" in reason:
        what = (
            "the server does not take the connection by TLS, nor perhaps the certificate of the"
            " user"
        )
        return _not_asked(
            RequestFailure(
                what, "log in anew, if the kubeconfig has a certificate: it may have expired"
            )
        )
    if "EOF" in reason or "CLOSED" in reason:
        return _BROKEN
    return _not_asked(
        RequestFailure(
            "the server does not speak TLS", f"{CHECK_SERVER}: has that port http, not https?"
        )
    )


def _not_asked(failure: RequestFailure) -> RequestFailure:
    return attrs.evolve(failure, what=f"is not asked: {failure.what}")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
