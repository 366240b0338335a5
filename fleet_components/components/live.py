"""Requests to member clusters that bypass the Kubernetes provider: who they are, what they have, deleting leftovers."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import client as http
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import attrs

from fleet_components.content.guarded import read_json, read_yaml
from fleet_components.content.stamp import STACK_ANNOTATION
from fleet_components.model.manifest import ObjectKey
from fleet_components.model.problem import FleetError, Problem

if TYPE_CHECKING:
    from httpx2 import Client
    from lightkube.config.models import User, UserExec

_UNUSABLE = "cannot be deleted: the kubeconfig of its cluster does not work, or its credential plugin"
_SILENT = "cannot be deleted: its cluster does not answer, or not as Kubernetes does"
_REFUSED = "cannot be deleted: its cluster refuses with"
_SPACE = "/api/v1/namespaces/{}"
_HINT = "run again when the cluster answers and lets the kubeconfig's user get and delete it, or delete it by hand"


@attrs.frozen
class Leftover:
    """An object that a cluster may hold; ``namespace`` is empty if it is cluster-scoped."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return str(ObjectKey("", self.kind, self.namespace, self.name))


@attrs.frozen
class Answer:
    """A cluster's answer: who it is, and which objects it has.

    Attributes:
        uid: the uid of the namespace kube-system, which identifies a cluster; None if it could not be asked.
        objects: those that it was asked for and has, as it has them; None if it could not be asked for all of them.
    """

    uid: str | None = None
    objects: Mapping[Leftover, Mapping[str, Any]] | None = attrs.field(default=None, repr=False)


def ask_cluster(kubeconfig: str, objects: Sequence[Leftover] = (), *, timeout: float = 5.0) -> Answer:
    """Ask a cluster who it is, and which of some objects it has.

    Args:
        kubeconfig: the text of a kubeconfig.
        objects: the objects.
        timeout: limit for the whole call, in seconds; a tenth of a second is added for each object.
    """
    told = [Answer()]

    def ask(deadline: float) -> None:
        with _member(kubeconfig, deadline) as member:
            uid = member.ask("GET", _SPACE.format("kube-system"))["metadata"]["uid"]
            told.append(Answer(uid))
            told.append(Answer(uid, {one: found for one in objects if (found := member.get(one))}))

    _within(timeout + len(objects) / 10, ask)
    return told[-1]


def delete_leftovers(
    kubeconfig: str, objects: Sequence[Leftover], *, stack: str, timeout: float = 30.0
) -> tuple[Leftover, ...]:
    """Delete objects that a stack left behind on a cluster; their dependents are deleted in the background.

    An object is left alone if it is gone or being deleted, if the cluster no longer serves its kind, or if its
    annotation names another stack or is missing.

    Args:
        kubeconfig: the text of a kubeconfig.
        objects: objects that may still exist.
        stack: the stack, as ``organization/project/stack``.
        timeout: limit for the whole call, in seconds.

    Returns:
        The objects that were deleted.

    Raises:
        FleetError: some objects could not be deleted; the others were.
    """
    outcome: dict[Leftover, bool | str] = dict.fromkeys(objects, _UNUSABLE)

    def delete(deadline: float) -> None:
        with _member(kubeconfig, deadline) as member:
            # The kubeconfig works: what is not reached before the deadline is reported with this reason.
            outcome.update(dict.fromkeys(objects, _SILENT))
            for leftover in outcome:
                with suppress(Exception):
                    outcome[leftover] = member.delete(leftover, stack)

    if outcome:
        _within(timeout, delete)
    known = dict(outcome)  # a copy, because an abandoned thread may still change it
    if wrong := [Problem(what, subject=str(each), hint=_HINT) for each, what in known.items() if isinstance(what, str)]:
        raise FleetError(wrong)
    return tuple(each for each, deleted in known.items() if deleted)


def _within(timeout: float, work: Callable[[float], None]) -> None:
    """Run a function in a thread, which is abandoned on a timeout: resolving a host name has no timeout of its own.

    Errors are dropped, because the errors of libraries may quote the kubeconfig.
    """

    def quietly(deadline: float) -> None:
        with suppress(Exception):
            work(deadline)

    thread = threading.Thread(target=quietly, args=[time.monotonic() + timeout], daemon=True)
    thread.start()
    thread.join(timeout)


@contextmanager
def _member(kubeconfig: str, deadline: float) -> Iterator[_Connection]:
    from lightkube import KubeConfig
    from lightkube.config.client_adapter import Client, ConnectionParams
    from lightkube.config.models import User

    # Relative paths resolve against the working directory, as in the Kubernetes provider.
    config = KubeConfig.from_dict(read_yaml(kubeconfig), fname=Path.cwd() / "kubeconfig").get()
    assert config is not None
    user = config.user or User()
    if user.exec:
        user = _credential(user.exec, deadline)
    with Client(config._replace(user=user), ConnectionParams()) as client:
        yield _Connection(client, config.namespace, deadline)


def _credential(plugin: UserExec, deadline: float) -> User:
    """Run a credential plugin. lightkube does so without a timeout, and supports neither API v1 nor certificates."""
    from lightkube.config.models import User

    # A plugin that asks its user something would wait for ever: it is told that nobody is there, and has no input.
    asked = {"kind": "ExecCredential", "apiVersion": plugin.apiVersion, "spec": {"interactive": False}}
    given = {each.name: each.value for each in plugin.env or ()}
    done = subprocess.run(
        [plugin.command, *(plugin.args or ())],
        env={**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(asked), **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=deadline - time.monotonic(),
        check=True,
    )
    status = read_json(done.stdout)["status"]
    pair = [status.get("clientCertificateData"), status.get("clientKeyData")]
    # ExecCredential has certificates as PEM text, a kubeconfig has them in base64.
    certificate, key = (b64encode(text.encode()).decode() if text else None for text in pair)
    return User(token=status.get("token"), client_cert_data=certificate, client_key_data=key)


class _UnexpectedAnswer(Exception):
    """A response that is neither a success nor "not found"."""


@attrs.define
class _Connection:
    """A connection to a cluster until a deadline, with the cached lists of the kinds that it serves."""

    client: Client
    namespace: str
    deadline: float
    served: dict[str, Any] = attrs.field(factory=dict)

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the body of the response; None for "not found".

        Raises:
            TimeoutError: the deadline has passed.
            _UnexpectedAnswer: the cluster answers with another error.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        answer = self.client.request(method, path, json=body, timeout=left)
        status = answer.status_code
        if status == http.NOT_FOUND:
            return None
        if not answer.is_success:
            raise _UnexpectedAnswer(f"{_REFUSED} {status} {http.responses.get(status, '')}".rstrip())
        return answer.json()

    def get(self, one: Leftover) -> Any:
        """Return an object; None if it is not there.

        Raises:
            TimeoutError: the deadline has passed.
            _UnexpectedAnswer: the cluster answers with another error.
        """
        # Asked once: a namespace that is not there yet has nothing in it.
        if one.namespace and self._once(_SPACE.format(quote(one.namespace))) is None:
            return None
        path = self._path(one)
        return self.ask("GET", path) if path else None

    def delete(self, leftover: Leftover, stack: str) -> bool | str:
        """Return whether the object was deleted, or the reason why it could not be."""
        try:
            path = self._path(leftover)
            found = self.ask("GET", path) if path else None
            return found is not None and self._delete_own(path, found["metadata"], stack)
        except _UnexpectedAnswer as refused:
            return str(refused)

    def _delete_own(self, path: str, metadata: Mapping[str, Any], stack: str) -> bool:
        if (metadata.get("annotations") or {}).get(STACK_ANNOTATION) != stack or metadata.get("deletionTimestamp"):
            return False
        # The precondition spares an object that somebody creates under the same name in the meantime.
        options = {"propagationPolicy": "Background", "preconditions": {"uid": metadata["uid"]}}
        options |= {"apiVersion": "v1", "kind": "DeleteOptions"}
        return self.ask("DELETE", path, options) is not None

    def _path(self, leftover: Leftover) -> str:
        """Return the path of an object, in its own or another version of its group; empty if its kind is not served."""
        group, _, version = leftover.api_version.rpartition("/")
        for root in self._roots(group, version):
            for resource in self._once(root)["resources"]:
                # Subresources, as deployments/status, are listed with the same kind.
                if resource["kind"] == leftover.kind and "/" not in resource["name"]:
                    space = f"namespaces/{quote(leftover.namespace or self.namespace)}/"
                    space = space if resource["namespaced"] else ""
                    return f"{root}/{space}{resource['name']}/{quote(leftover.name)}"
        return ""

    def _roots(self, group: str, version: str) -> list[str]:
        if not group:
            return ["/api/v1"]
        # The list of all groups, since a server without the Kubernetes API answers 404 for a single group too.
        groups = {each["name"]: each["versions"] for each in self._once("/apis")["groups"]}
        versions = sorted((each["version"] for each in groups.get(group, ())), key=lambda each: each != version)
        return [f"/apis/{group}/{each}" for each in versions]

    def _once(self, path: str) -> Any:
        if path not in self.served:
            self.served[path] = self.ask("GET", path)
        return self.served[path]
