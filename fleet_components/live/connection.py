"""Requests to member clusters that bypass the Kubernetes provider: who they are, what they have,
deleting leftovers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import client as http
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlencode

import attrs

from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.secret import is_secret, secret_fields
from fleet_components.content.stamp import FOUND, FOUND_ANNOTATION, STACK_ANNOTATION
from fleet_components.live.credentials import credential, unsecret
from fleet_components.live.exchange import (
    PER_OBJECT,
    AnswerBudget,
    TooLargeError,
    member_room,
    received,
)
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.observed import SILENT, UNUSABLE
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import visible

if TYPE_CHECKING:
    from httpx2 import Client

_UNDELETED = "cannot be deleted: {}"
_REFUSED = _UNDELETED.format("its cluster {}")
_LONGEST = 2000
# msgspec, which lightkube reads with, ends the process when two threads are the first to read (seen
# with 0.22.0).
_READING = threading.Lock()
_SPACE = "/api/v1/namespaces/{}"
_HINT = (
    "run again when the cluster answers and lets the kubeconfig's user get and delete it, or delete"
    " it by hand"
)


@attrs.frozen
class Leftover:
    """An object that a cluster may hold; ``namespace`` is empty if it is cluster-scoped."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, api_version: str, key: ObjectKey) -> Self:
        """Return the object of a key, in a version of its group."""
        return cls(api_version, key.kind, key.namespace, key.name)

    @classmethod
    def like(cls, data: Mapping[str, Any]) -> Self:
        """Return the object that has the version and the name of one in wire form."""
        return cls.of(str(data["apiVersion"]), Manifest(data).key)

    def __str__(self) -> str:
        return str(ObjectKey("", self.kind, self.namespace, self.name))


@attrs.frozen
class Answer:
    """A cluster's answer: who it is, and which objects it has.

    Attributes:
        uid: the uid of the namespace kube-system, which identifies a cluster; None if it could not
            be asked.
        objects: those that it was asked for and has, as it has them; None if it could not be asked
            for all of them.
    """

    uid: str | None = None
    objects: Mapping[Leftover, Mapping[str, Any]] | None = attrs.field(default=None, repr=False)


def ask_cluster(
    kubeconfig: str, objects: Sequence[Leftover] = (), *, timeout: float = 5.0
) -> Answer:
    """Ask a cluster who it is, and which of some objects it has.

    Args:
        kubeconfig: the text of a kubeconfig.
        objects: the objects.
        timeout: limit for the whole call, in seconds; a tenth of a second is added for each object.
    """
    # The last answer counts: the thread may be abandoned before it has all of them.
    answers = [Answer()]

    def ask(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(len(objects))) as member:
            uid = member.ask("GET", _SPACE.format("kube-system"))["metadata"]["uid"]
            answers.append(Answer(uid))
            answers.append(
                Answer(uid, {item: found for item in objects if (found := member.get(item))})
            )

    within(timeout + len(objects) / 10, ask)
    return answers[-1]


def delete_leftovers(
    kubeconfig: str,
    objects: Sequence[Leftover],
    *,
    stacks: Collection[str],
    spares_found: bool = False,
    timeout: float = 30.0,
) -> tuple[Leftover, ...]:
    """Delete objects that a stack left behind on a cluster; their dependents are deleted in the
    background.

    An object is left alone if it is gone or being deleted, if the cluster no longer serves its
    kind, or if its annotation names another stack or is missing.

    Args:
        kubeconfig: the text of a kubeconfig.
        objects: objects that may still exist.
        stacks: the names of the stack, as ``organization/project/stack``: its own, and those that
            it had before.
        spares_found: True to leave objects alone that stood there before the stack took them over.
        timeout: limit for the whole call, in seconds.

    Returns:
        The objects that were deleted.

    Raises:
        FleetError: some objects could not be deleted; the others were.
    """
    # A text is a reason, a boolean whether the object was deleted.
    outcome: dict[Leftover, bool | str] = dict.fromkeys(objects, _UNDELETED.format(UNUSABLE))

    def delete(deadline: float) -> None:
        with connected(kubeconfig, deadline, member_room(len(objects))) as member:
            # The kubeconfig works: what is not reached before the deadline is reported with this
            # reason.
            outcome.update(dict.fromkeys(objects, _UNDELETED.format(SILENT)))
            for leftover in outcome:
                # An object that fails keeps the reason from before.
                with suppress(Exception):
                    outcome[leftover] = member.delete(leftover, stacks, spares_found=spares_found)

    if outcome:
        within(timeout, delete)
    known = dict(outcome)  # a copy, because an abandoned thread may still change it
    wrong = [
        Problem(Message("not-deleted", "{reason}", reason=what), subject=str(each), hint=_HINT)
        for each, what in known.items()
        if isinstance(what, str)
    ]
    if wrong:
        raise FleetError(wrong)
    return tuple(each for each, deleted in known.items() if deleted)


def within(timeout: float, work: Callable[[float], None]) -> None:
    """Run a function in a thread, which is abandoned on a timeout: resolving a host name has no
    timeout of its own.

    Errors are dropped, because the errors of libraries may quote the kubeconfig.
    """

    def quietly(deadline: float) -> None:
        with suppress(Exception):
            work(deadline)

    thread = threading.Thread(target=quietly, args=[time.monotonic() + timeout], daemon=True)
    thread.start()
    thread.join(timeout)


@contextmanager
def connected(kubeconfig: str, deadline: float, room: int) -> Iterator[Connection]:
    """Connect to a cluster.

    Args:
        kubeconfig: the text of its kubeconfig.
        deadline: on the monotonic clock; what is still asked then is broken off.
        room: bytes of memory that all its answers may take.
    """
    from lightkube import KubeConfig
    from lightkube.config.client_adapter import Client, ConnectionParams
    from lightkube.config.models import User

    # Relative paths resolve against the working directory, as in the Kubernetes provider.
    with _READING:
        config = KubeConfig.from_dict(read_yaml(kubeconfig), fname=Path.cwd() / "kubeconfig").get()
    assert config is not None
    user = config.user or User()
    if user.exec:
        user = credential(user.exec, deadline)
    with (
        Client(config._replace(user=user), ConnectionParams()) as client,
        AnswerBudget(deadline, room) as budget,
    ):
        yield Connection(client, config.namespace, budget)


class UnexpectedAnswer(Exception):
    """A response that is neither a success nor "not found".

    Args:
        what: the response in words, after the name of the cluster.
        code: its HTTP status.
        message: what the API server says, in its words; they may quote what it was sent.
        details: the ``details`` of its ``Status``: what was refused, and for which causes.
    """

    def __init__(
        self,
        what: str,
        code: int = 0,
        message: str = "",
        details: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        super().__init__(what)
        self.code, self.message, self.details = code, message or what, details

    def words(self, sent: Mapping[str, Any]) -> str:
        """Return what the API server says to an object; of one with secret data the status
        alone.
        """
        return str(self) if is_secret(sent) or secret_fields(sent) else self.message

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that an API server refuses; empty if it names none."""
        causes = self.details.get("causes")
        named = causes if isinstance(causes, list) else []
        return tuple(str(item.get("field", "")) for item in named if isinstance(item, Mapping))


@attrs.define
class Connection:
    """A connection to a cluster.

    Attributes:
        client: sends the requests.
        namespace: the namespace of its context.
        budget: the time and the memory that its answers may take.
        secrets: values that no text of the cluster may show.
        served: cached lists of the kinds that it serves.
    """

    client: Client
    namespace: str
    budget: AnswerBudget
    secrets: Collection[str] = attrs.field(default=(), repr=False)
    served: dict[str, Any] = attrs.field(factory=dict)

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, most: int | None = None
    ) -> Any:
        """Return the body of the response; None for "not found".

        Args:
            method: the HTTP method.
            path: the path below the address of the cluster.
            body: what is sent, as JSON; None for nothing.
            most: MiB of memory that the body may take; None for what the budget has left.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster answers with another error.
        """
        try:
            return self._answer(method, path, body, most=most)
        except UnexpectedAnswer as error:
            if error.code == http.NOT_FOUND:
                return None
            raise

    def _answer(
        self,
        method: str,
        path: str,
        body: Any,
        content: str = "application/json",
        most: int | None = None,
    ) -> Any:
        try:
            answer = received(
                self.client, method, path, {"Content-Type": content}, self.budget, body
            )
            if http.OK <= answer.status < http.MULTIPLE_CHOICES:
                return self.budget.json(answer.content, most)
            raise self._refusal(answer.status, self._status(answer.content))
        except TooLargeError as error:
            raise UnexpectedAnswer(f"has answers that take more than {error}") from None

    def _refusal(self, code: int, status: Mapping[str, Any]) -> UnexpectedAnswer:
        what = f"refuses with {code} {http.responses.get(code, '')}".rstrip()
        message, details = status.get("message"), status.get("details")
        message = self.words(message) if isinstance(message, str) else ""
        return UnexpectedAnswer(
            what, code, message, details if isinstance(details, Mapping) else {}
        )

    def words(self, text: str) -> str:
        """Return a text of the cluster without what could be a secret in it."""
        return unsecret(text, self.secrets, _LONGEST)

    def _status(self, content: bytes) -> Mapping[str, Any]:
        """Return the ``Status`` of an API server's refusal; empty if the answer is none."""
        with suppress(UnreadableError):
            status = self.budget.json(content)
            return status if isinstance(status, Mapping) else {}
        return {}

    def try_out(
        self, data: Mapping[str, Any], *, manager: str, force: bool, create: bool = False
    ) -> Any:
        """Return the object that would stand if it were applied, or created.

        Args:
            data: the object.
            manager: the field manager.
            force: True to overwrite fields of other managers.
            create: True to try a creation.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster refuses the object.
        """
        path = self._path(Leftover.like(data))
        options = {
            "dryRun": "All",
            "fieldManager": manager,
            **({} if create else {"force": str(force).lower()}),
        }
        # An object can be read in any version of its group, and is sent in its own only.
        if f"/{data['apiVersion']}/" not in path:
            raise UnexpectedAnswer(visible(f"does not serve {data['apiVersion']} {data['kind']}"))
        method, content = (
            ("POST", "application/json") if create else ("PATCH", "application/apply-patch+yaml")
        )
        path = path.rpartition("/")[0] if create else path
        return self._answer(method, f"{path}?{urlencode(options)}", data, content, PER_OBJECT)

    def get(self, leftover: Leftover) -> Any:
        """Return an object; None if it is not there.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster answers with another error.
        """
        # Asked once: a namespace that is not there yet has nothing in it.
        if leftover.namespace and self._once(_SPACE.format(quote(leftover.namespace))) is None:
            return None
        path = self._path(leftover)
        return self.ask("GET", path, most=PER_OBJECT) if path else None

    def items(self, group: str, kind: str, label: str = "") -> list[Mapping[str, Any]]:
        """Return all objects of a kind, those with a label if one is given; nothing if the kind is
        not served.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster answers with an error.
        """
        options = f"?{urlencode({'labelSelector': label})}" if label else ""
        for root in self._roots(group, ""):
            for resource in self._once(root)["resources"]:
                if resource["kind"] == kind and "/" not in resource["name"]:
                    return list(
                        self._answer("GET", f"{root}/{resource['name']}{options}", None)["items"]
                    )
        return []

    def plural(self, api_version: str, kind: str) -> str:
        """Return the plural by which requests call a kind; empty if it is not served.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster answers with an error.
        """
        # The last step of a path is the name, the one before it the plural; an empty path has
        # neither.
        return "".join(self._path(Leftover(api_version, kind, "", "any")).split("/")[-2:-1])

    def change(self, leftover: Leftover, patch: Any, *, manager: str) -> None:
        """Change an object: by a merge patch, or by a JSON patch if a list is given.

        Raises:
            TimeoutError: the deadline has passed.
            UnexpectedAnswer: the cluster refuses it, or the object is not there.
        """
        content = (
            "application/json-patch+json"
            if isinstance(patch, list)
            else "application/merge-patch+json"
        )
        path = f"{self._path(leftover)}?{urlencode({'fieldManager': manager})}"
        self._answer("PATCH", path, patch, content)

    def delete(
        self, leftover: Leftover, stacks: Collection[str], *, spares_found: bool
    ) -> bool | str:
        """Return whether the object was deleted, or the reason why it could not be."""
        try:
            path = self._path(leftover)
            found = self.ask("GET", path) if path else None
            if found is None or (
                spares_found and _annotations(found).get(FOUND_ANNOTATION) == FOUND
            ):
                return False
            return self._delete_own(path, found, stacks)
        except UnexpectedAnswer as refused:
            return _REFUSED.format(refused)

    def _delete_own(self, path: str, found: Mapping[str, Any], stacks: Collection[str]) -> bool:
        metadata = found["metadata"]
        if _annotations(found).get(STACK_ANNOTATION) not in stacks or metadata.get(
            "deletionTimestamp"
        ):
            return False
        # The precondition spares an object that somebody creates under the same name in the
        # meantime.
        options = {"propagationPolicy": "Background", "preconditions": {"uid": metadata["uid"]}}
        options |= {"apiVersion": "v1", "kind": "DeleteOptions"}
        # None is "not found": somebody else has deleted it.
        return self.ask("DELETE", path, options) is not None

    def _path(self, leftover: Leftover) -> str:
        """Return the path of an object, in its own or another version of its group; empty if its
        kind is not served.
        """
        group, _, version = leftover.api_version.rpartition("/")
        for root in self._roots(group, version):
            for resource in self._once(root)["resources"]:
                # Subresources, as deployments/status, are listed with the same kind.
                if resource["kind"] == leftover.kind and "/" not in resource["name"]:
                    # As kubectl does, an object without a namespace gets that of the context.
                    space = f"namespaces/{quote(leftover.namespace or self.namespace)}/"
                    space = space if resource["namespaced"] else ""
                    return f"{root}/{space}{resource['name']}/{quote(leftover.name)}"
        return ""

    def _roots(self, group: str, version: str) -> list[str]:
        if not group:
            return ["/api/v1"]
        # The list of all groups, since a server without the Kubernetes API answers 404 for a single
        # group too.
        groups = {each["name"]: each["versions"] for each in self._once("/apis")["groups"]}
        # The requested version comes first; the sort is stable, so the others keep the server's
        # order.
        versions = sorted(
            (each["version"] for each in groups.get(group, ())), key=lambda each: each != version
        )
        return [f"/apis/{group}/{each}" for each in versions]

    def _once(self, path: str) -> Any:
        if path not in self.served:
            self.served[path] = self.ask("GET", path)
        return self.served[path]


def _annotations(found: Mapping[str, Any]) -> Mapping[str, str]:
    return found["metadata"].get("annotations") or {}
