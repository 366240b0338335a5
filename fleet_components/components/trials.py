"""Trials of what is replaced: members say whether they take the new form before the old one
goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import attrs
import pulumi

from fleet_components.components.process import in_thread
from fleet_components.components.refusal import RefusedError
from fleet_components.live.asked_objects import WantedObject
from fleet_components.live.connection import Leftover, ask_cluster
from fleet_components.live.kubeconfig import read_kubeconfig
from fleet_components.live.trial import FormTrial, try_all
from fleet_components.model.manifest import Manifest, ObjectKey, Origin, value_at
from fleet_components.model.message import Message
from fleet_components.model.observed import SILENT
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few, visible
from fleet_components.plan.apply_mode import ApplyMode
from fleet_components.plan.fleet_plan import FleetPlan, grouped
from fleet_components.plan.guard import Pair

_REFUSED = Message(
    "replaced-api-server-refuses",
    "is to be replaced on {where}, and the API server refuses the new form: {words}",
)
_REFUSED_HINT = (
    "the old one stays; change the object, or what refuses it. It is tried beside the old one, "
    "under another name: if that is the only reason, delete the old one by hand"
)
_UNCHECKED = Message(
    "replaced-new-form-not", "is to be replaced on {where}; the new form is not checked: {reason}"
)
_UNCHECKED_HINT = "if the API server refuses it then, the object is gone until an update creates it"
_NO_KUBECONFIG = "no kubeconfig is known to ask with"
_SECONDS = 1.5
"""Longest time for a question after a failure; the engine kills the program soon after."""


@attrs.define
class FormTrials:
    """Trials of the objects that an update deletes and creates anew.

    Attributes:
        plan: the plan.
        written: where the objects of the source are written.
        parent: the resource that warnings are about.
        found: the answers so far, by member and object.
    """

    plan: FleetPlan
    written: Mapping[ObjectKey, Origin]
    parent: pulumi.Resource
    found: dict[Pair, FormTrial] = attrs.field(factory=dict)
    _kubeconfigs: dict[str, str] = attrs.field(factory=dict, repr=False)

    async def begin(self, kubeconfigs: Mapping[str, str], silent: Collection[str]) -> None:
        """Try everything that is replaced, and warn of what cannot be tried.

        Args:
            kubeconfigs: the kubeconfigs of the members, by name.
            silent: the members that do not answer.

        Raises:
            RefusedError: an API server refuses a new form.
        """
        # For ``gone``, which asks the members after a failure.
        self._kubeconfigs |= kubeconfigs
        # Coroutines, which ``gather`` starts together.
        asked = []
        for name in self.plan.members:
            wanted = replacing(self.plan, name)
            if wanted and name not in silent:
                asked.append(in_thread(partial(_trials, name, kubeconfigs.get(name, ""), wanted)))
            else:
                unasked = FormTrial(unchecked=SILENT)
                self.found |= {(name, Manifest(each.data).key): unasked for each in wanted}
        for trials in await asyncio.gather(*asked):
            self.found |= trials
        problems = list(_refused(self.found, self.written))
        if problems:
            raise RefusedError(problems)
        for warning in _unchecked(self.found):
            pulumi.log.warn(str(warning), self.parent)

    def again(
        self,
        name: str,
        kubeconfig: pulumi.Output[str],
        data: Mapping[str, Any],
        mode: ApplyMode,
        after: pulumi.Output[Any],
    ) -> pulumi.Output[Any]:
        """Return an output that is known once an object was tried again, before it is replaced.

        Args:
            name: the member.
            kubeconfig: its kubeconfig.
            data: the object in its new form.
            mode: how it is written.
            after: output that has to be known first.
        """
        wanted = WantedObject(data, mode, self.plan.manager)

        async def once_more(known: Sequence[Any]) -> None:
            trials = await in_thread(partial(_trials, name, known[0], [wanted]))
            problems = list(_refused(trials, self.written))
            if problems:
                raise RefusedError(problems)
            # Only answers that are new: the others were reported by ``begin``.
            fresh = dict(trials.items() - self.found.items())
            # Without a uid the first answer stays, which has the uid of the object that stood.
            self.found |= {pair: trial for pair, trial in fresh.items() if trial.uid}
            for warning in _unchecked(fresh):
                pulumi.log.warn(str(warning), self.parent)

        # The value is None, so that the secrecy of the kubeconfig would only spread to what waits
        # for it.
        return pulumi.Output.unsecret(pulumi.Output.all(kubeconfig, after).apply(once_more))

    def gone(self, pairs: Iterable[Pair]) -> Mapping[Pair, bool | None]:
        """Return which of the objects that stood are not there any more as they were.

        Returns:
            True for what is gone, False for what was recreated, None for what was to be replaced
            and whose member does not answer at once. Everything else is left out.
        """
        uids = {pair: self._uid_before(pair) for pair in pairs}
        fates: dict[Pair, bool | None] = {}
        stood = [pair for pair, uid in uids.items() if uid]
        for name, here in grouped(stood, lambda pair: pair[0]).items():
            objects = [(self.plan.standing[pair].api_version, pair[1]) for pair in here]
            live = _uids(self._kubeconfigs.get(name, ""), name, objects)
            for pair in here:
                if live is None and pair in self.plan.replaced:
                    fates[pair] = None
                elif live is not None and live[pair] != uids[pair]:
                    # No uid: the object is gone. Another uid: it was recreated.
                    fates[pair] = not live[pair]
        return fates

    def _uid_before(self, pair: Pair) -> str:
        """Return the uid of an object before the update; empty if none is known."""
        standing = self.plan.standing.get(pair)
        if standing is None:
            return ""
        return self.found[pair].uid if pair in self.found else standing.object_uid


def replacing(plan: FleetPlan, cluster: str) -> tuple[WantedObject, ...]:
    """Return the objects that a member deletes and creates anew, in their new form."""
    found: list[WantedObject] = []
    for subject in plan.subjects:
        pairs = (
            ((cluster, key) for key in subject.keys(cluster))
            if cluster in subject.deliveries
            else ()
        )
        # ``emitted`` builds all objects of a member, so it is called only where one is replaced.
        if subject.hub or plan.replaced.keys().isdisjoint(pairs):
            continue
        mode = subject.deliveries[cluster].mode
        for data in plan.emitted(subject, cluster):
            if (cluster, Manifest(data).key) in plan.replaced:
                found.append(WantedObject(data, mode, plan.manager))
    return tuple(found)


def _trials(
    cluster: str, kubeconfig: str, wanted: Sequence[WantedObject]
) -> Mapping[Pair, FormTrial]:
    """Return what a member says to the new form of each object.

    Args:
        cluster: the member's name.
        kubeconfig: its kubeconfig as text or path; empty if none is known.
        wanted: the objects in their new form.
    """
    try:
        found = try_all(read_kubeconfig(kubeconfig, cluster), wanted) if kubeconfig else {}
    except FleetError:
        found = {}
    unasked = FormTrial(unchecked=_NO_KUBECONFIG)
    keys = (Manifest(item.data).key for item in wanted)
    return {(cluster, key): found.get(key, unasked) for key in keys}


def _refused(
    trials: Mapping[Pair, FormTrial], written: Mapping[ObjectKey, Origin]
) -> Iterator[Problem]:
    """Yield a problem for each object whose new form is refused, with the members that do so alike.

    Args:
        trials: the answers by member and object.
        written: where the objects are written.
    """
    for (key, words), where in _alike({pair: trial.refused for pair, trial in trials.items()}):
        origin = written.get(key)
        yield Problem(
            _REFUSED.filled(where=few(where), words=visible(words)),
            subject=str(key),
            hint=_REFUSED_HINT,
            file=origin.file if origin else "",
            line=origin.line if origin else None,
        )


def _unchecked(trials: Mapping[Pair, FormTrial]) -> Iterator[Problem]:
    """Yield a warning for each object whose new form, or a part of it, could not be tried."""
    for (key, reason), where in _alike({pair: trial.unchecked for pair, trial in trials.items()}):
        what = _UNCHECKED.filled(where=few(where), reason=visible(reason))
        yield Problem(what, subject=str(key), hint=_UNCHECKED_HINT)


def _uids(
    kubeconfig: str, cluster: str, objects: Sequence[tuple[str, ObjectKey]]
) -> Mapping[Pair, str] | None:
    """Return the uids of objects on a member, empty for what is gone; None if it does not answer.

    Args:
        kubeconfig: the kubeconfig of a member, as text or path.
        cluster: the member's name.
        objects: the objects, each with its apiVersion.
    """
    asked = {key: Leftover.of(version, key) for version, key in objects}
    try:
        config = read_kubeconfig(kubeconfig, cluster)
    except FleetError:
        return None
    live = ask_cluster(config, tuple(asked.values()), timeout=_SECONDS).objects
    if live is None:
        return None
    uids = {key: value_at(live.get(left), ("metadata", "uid")) for key, left in asked.items()}
    return {(cluster, key): str(uid or "") for key, uid in uids.items()}


def _alike(answers: Mapping[Pair, str]) -> list[tuple[tuple[ObjectKey, str], list[str]]]:
    """Return each object and answer, with the members that give it; empty ones are left out."""
    given = [(key, name, words) for (name, key), words in answers.items() if words]
    found = grouped(given, lambda each: (each[0], each[2]))
    return [(what, sorted(name for _, name, _ in each)) for what, each in sorted(found.items())]
