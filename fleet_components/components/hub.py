"""Registers the objects that go through a hub, those that steer it and those that it places, by one
provider.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import attrs
import pulumi
from pulumi.resource_hooks import ResourceHookBinding

from fleet_components.components.handing_over import between
from fleet_components.components.keeping import before_creation
from fleet_components.components.own_provider import Demands, ProviderSettings, settings_of
from fleet_components.components.process import in_process, in_thread
from fleet_components.components.providers import member_provider
from fleet_components.components.refusal import RefusedError
from fleet_components.content.secret import REDACTED, secret_fields
from fleet_components.dynamic import Barrier
from fleet_components.live.hub_members import identified_hub
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.consignment import Consigned, Consignment, ConsignmentStage
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import PATCH, type_token
from fleet_components.plan.ways import NAMES

HubReach = pulumi.Input[str] | pulumi.ProviderResource | None
"""Access to a hub: text or path of a kubeconfig, or a Kubernetes provider of one's own."""
_ANOTHER = (
    "give the kubeconfig of the other; a fleet for this one is another fleet, under another name"
)
_HINT = (
    "pulumi config set fleet:hub PATH, or FleetArgs(hub=...): the kubeconfig of the hub, as text or"
    " path"
)


def unreachable_hub(consignment: Consignment, reach: HubReach) -> Problem | None:
    """Return why the hub cannot be reached, as far as it is known before the program runs; None if
    nothing is.
    """
    if not consignment.system or isinstance(reach, pulumi.ProviderResource):
        return None
    try:
        if isinstance(reach, str | None):
            _read(reach)
    except FleetError as error:
        return error.problems[0]
    return None


class Hub(pulumi.ComponentResource):
    """Component of all that a fleet has on its hub.

    Args:
        fleet: the name of the fleet.
        plan: its plan.
        reach: how the hub is reached.
        after: what comes before everything on the hub.
        parent: the fleet.
        seconds: the longest time that a creation waits until what stood under the name is gone.

    Attributes:
        last: the resources of the last stage, which come after all others.
        uid: the uid of the hub, to be recorded; None if it is not asked.
    """

    last: Sequence[pulumi.Resource]
    uid: pulumi.Output[str] | None

    def __init__(
        self,
        fleet: str,
        plan: FleetPlan,
        reach: HubReach,
        after: Sequence[pulumi.Resource],
        parent: pulumi.Resource,
        seconds: float,
    ) -> None:
        self._name, self._plan = names.hub_name(fleet), plan
        # Where the hub is not asked, what is known of it stays.
        self.uid = pulumi.Output.from_input(plan.past.hub) if plan.past.hub else None
        opts = pulumi.ResourceOptions(parent=parent, depends_on=list(after))
        super().__init__(names.HUB, self._name, {}, opts)
        before: list[pulumi.Resource] = list(after)
        if isinstance(reach, pulumi.ProviderResource):
            provider, before = reach, self._judged(reach, before)
            kubeconfig = settings_of(reach).apply(lambda settings: settings.kubeconfig("hub"))
        else:
            kubeconfig, provider = self._reached(reach)
        hook = (
            None
            if in_process()
            else before_creation(f"{self._name}/before-create", "hub", kubeconfig, seconds)
        )
        self._hooks = ResourceHookBinding(before_create=[hook]) if hook else None
        for stage, group in groupby(
            plan.consignment.objects, key=lambda consigned: consigned.stage
        ):
            objects = list(group)
            before = between(f"{self._name}/stage-{int(stage)}", before, len(objects), self)
            before = [self._object(item, provider, before) for item in objects]
        self.last = before
        self.register_outputs({})

    def _reached(
        self, reach: pulumi.Input[str] | None
    ) -> tuple[pulumi.Output[str], pulumi.ProviderResource]:
        given: pulumi.Output[Any] = pulumi.Output.from_input(reach)
        checked: pulumi.Output[tuple[str, str]] = given.apply(self._checked)
        if not in_process():
            # What is made of a secret kubeconfig would be a secret.
            self.uid = pulumi.Output.unsecret(checked.apply(itemgetter(1)))
        kubeconfig: pulumi.Output[str] = checked.apply(itemgetter(0))
        provider = member_provider(
            self._name,
            cluster="hub",
            kubeconfig=pulumi.Output.secret(kubeconfig),
            # Another kubeconfig of the hub replaces nothing.
            identifier=self._name,
            render_to="",
            lost=False,
            opts=pulumi.ResourceOptions(parent=self),
        )
        return kubeconfig, provider

    def _judged(
        self, own: pulumi.ProviderResource, after: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        """Return what comes before everything on the hub, once a provider of one's own and its hub
        are judged.
        """
        if in_process():
            return list(after)
        self.uid = pulumi.Output.unsecret(settings_of(own).apply(self._of_own))
        options = pulumi.ResourceOptions(parent=self, depends_on=list(after))
        return [
            Barrier(f"{self._name}/known", {"key": f"{self._name}/known", "hub": self.uid}, options)
        ]

    async def _of_own(self, settings: ProviderSettings) -> str:
        """Return the uid of the hub of a provider of one's own; the one that is known if it cannot
        be asked for it.

        Raises:
            RefusedError: a setting would have objects deleted or left as they are, or
                :meth:`_checked` raises it.
        """
        demands = Demands(member="hub", identifier="", wanted=self._name, adopts=(True,))
        wrong = list(demands.problems(settings))
        if wrong:
            raise RefusedError(_of_hub(wrong))
        for problem in _of_hub(demands.warnings(settings)):
            pulumi.log.warn(str(problem), self)
        text = settings.kubeconfig("hub")
        return (await self._checked(text))[1] if text else self._plan.past.hub

    async def _checked(self, given: Any) -> tuple[str, str]:
        """Return the text of the kubeconfig and the hub's uid, once the hub has said that it knows
        the members.

        Raises:
            RefusedError: it does not know some, is another hub than before, or cannot be asked.
        """
        known, system = self._plan.past.hub, NAMES[self._plan.consignment.system]
        if in_process():
            return REDACTED, known
        members = [item.manifest for item in self._plan.consignment.objects if item.patch]
        try:
            text = _read(given)
            if text == REDACTED:
                return text, known
            ask = partial(identified_hub, text, system, members)
            uid = await in_thread(ask)
        except FleetError as error:
            raise RefusedError(error.problems) from None
        if known and uid and uid != known:
            what = Message(
                "another-one-than-stack",
                "is another one than this stack has used: its uid is {uid}, and that of the other"
                " {known}",
                uid=uid,
                known=known,
            )
            raise RefusedError([Problem(what, subject="the hub", hint=_ANOTHER)])
        return text, uid or known

    def _object(
        self,
        consigned: Consigned,
        provider: pulumi.ProviderResource,
        before: Sequence[pulumi.Resource],
    ) -> pulumi.Resource:
        manifest = consigned.manifest
        name = f"{self._name}/{names.short_name(manifest.key)}"
        options = pulumi.ResourceOptions(
            parent=self,
            provider=provider,
            version=provider_version(),
            depends_on=list(before),
            # A member that is not declared any more stays one: its agents have joined it.
            # Before a move, what others may have something in stays, too: Karmada takes it from all
            # members.
            retain_on_delete=consigned.patch
            or (self._plan.options.moving and consigned.stage is ConsignmentStage.CONTAINERS),
            hooks=self._hooks,
        )
        return KubernetesObject(name, sealed(manifest.data), options, patch=consigned.patch)


def _read(given: Any) -> str:
    """Return the text of a hub's kubeconfig.

    Raises:
        FleetError: there is none, or it cannot be used. The text is never shown.
    """
    try:
        return read_kubeconfig(given, "hub")
    except FleetError as error:
        hinted = (attrs.evolve(problem, hint=_HINT) for problem in _of_hub(error.problems))
        raise FleetError(hinted) from None


def _of_hub(problems: Iterable[Problem]) -> list[Problem]:
    return [attrs.evolve(problem, subject="the hub") for problem in problems]


# One Pulumi resource per Kubernetes object, for objects of any kind.


class KubernetesObject(pulumi.CustomResource):
    """A Kubernetes object of any kind as a resource of the Kubernetes provider; custom resources
    need no schema.

    Whatever replaces it (a field that cannot be changed, ``pulumi up --replace``, ``pulumi state
    taint``, an earlier replacement that failed), the old object is deleted first. The provider asks
    for that only where it finds a field that cannot be changed; otherwise the engine creates first,
    which updates the object that stands under the name, and then deletes that same object as the
    old one (pulumi/pulumi v3.260.0, pkg/resource/deploy/step_generator.go, continueStepsFromDiff).

    Args:
        name: the resource's logical name.
        data: the object in wire form.
        opts: resource options, with an explicit provider and its version.
        patch: True to set the given fields of an object that somebody else has made, and no others.
    """

    def __init__(
        self,
        name: str,
        data: Mapping[str, Any],
        opts: pulumi.ResourceOptions,
        *,
        patch: bool = False,
    ) -> None:
        token = type_token(data) + (PATCH if patch else "")
        first = pulumi.ResourceOptions(delete_before_replace=True)
        super().__init__(token, name, dict(data), pulumi.ResourceOptions.merge(opts, first))


@cache
def provider_version() -> str:
    """Return the version of the Kubernetes provider plugin that belongs to the installed
    package.
    """
    from pulumi_kubernetes import _utilities

    return str(_utilities.get_version())


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object with the fields that hold something secret marked as such, but for its
    metadata.
    """
    # An encrypted name could not be read back without the passphrase, and the object would be taken
    # for gone.
    hidden = secret_fields(data) - {"metadata"}
    return {k: pulumi.Output.secret(v) if k in hidden else v for k, v in data.items()}
