"""Configuration of the Karmada control plane to imitate: feature gates, flags and custom workload
kinds.

It comes from one object of the source::

    apiVersion: fleet-components/v1
    kind: KarmadaSettings
    metadata: {name: karmada}
    spec:
      noExecuteEviction: true
      workloads:
      - {apiVersion: example.com/v1, kind: Widget, replicas: spec.size, podTemplate: spec.template}

Without such an object, the defaults of a control plane apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from fleet_components.model.codec import MisfitError
from fleet_components.model.manifest import Manifest, WorkloadShape
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import API_VERSION, read
from fleet_components.systems.karmada.model.policy import DIRECTLY, GRACEFULLY

KIND = "KarmadaSettings"


@attrs.frozen(kw_only=True)
class CustomWorkload:
    """A custom workload kind with replicas, which Karmada would learn from a
    ``ResourceInterpreterCustomization``.

    Attributes:
        api_version: ``group/version`` of the kind.
        kind: the kind.
        replicas: the field that holds the number of replicas, for example ``spec.size``.
        pod_template: the field that holds the pod template, for requests and dependencies; None if
            there is none.
        default: the number of replicas if the field is absent; None, the default, if the field is
            required.
    """

    api_version: str
    kind: str
    replicas: str
    pod_template: str | None = None
    default: int | None = None

    def describes(self, manifest: Manifest) -> bool:
        """Return whether the object is of this kind."""
        return (manifest.api_version, manifest.kind) == (self.api_version, self.kind)

    @property
    def shape(self) -> WorkloadShape:
        """The paths of replicas and pod template."""
        template = None if self.pod_template is None else tuple(self.pod_template.split("."))
        return WorkloadShape(
            self.api_version, self.kind, tuple(self.replicas.split(".")), template, self.default
        )

    def problems(self) -> Iterator[Problem]:
        """Yield the validation errors of the declaration."""
        for field, path in (("replicas", self.replicas), ("podTemplate", self.pod_template)):
            if path is not None and not all(path.split(".")):
                yield Problem(
                    Message("not-field", '"{path}" is not a field', path=path),
                    (field,),
                    "write the names from the root, as spec.replicas",
                )
        if self.default is not None and self.default < 0:
            yield Problem(
                Message(
                    "not-number-replicas",
                    "{default} is not a number of replicas",
                    default=self.default,
                ),
                ("default",),
                "write 0 or more",
            )


@attrs.frozen(kw_only=True)
class KarmadaSettings:
    """Settings of the control plane.

    Attributes:
        preemption: the feature gate ``PropagationPolicyPreemption``; off by default.
        no_execute_eviction: ``NoExecute`` taints evict objects from members: the feature gate
            ``Failover`` with the flag ``--enable-no-execute-taint-eviction``; off by default.
        purge_mode: the flag ``--no-execute-taint-eviction-purge-mode``: ``Gracefully``, the
            default, or ``Directly``.
        graceful_eviction_timeout: the flag ``--graceful-eviction-timeout``, in seconds; 600 by
            default.
        exact: decide exactly as Karmada does even where that does harm: a member that an object
            would have to leave at once may be chosen, an eviction continues after its taint is
            gone, and an eviction that takes too long removes the only copy. False by default.
        brings_namespaces: every member has every namespace, as a control plane brings them by
            itself, so that no plan does. False by default: a namespace goes along with the objects
            in it.
        workloads: custom workload kinds with replicas.
    """

    preemption: bool = False
    no_execute_eviction: bool = False
    purge_mode: str = GRACEFULLY
    graceful_eviction_timeout: int = 600
    exact: bool = False
    brings_namespaces: bool = False
    workloads: tuple[CustomWorkload, ...] = ()

    @property
    def shapes(self) -> tuple[WorkloadShape, ...]:
        """The shapes of the custom workload kinds."""
        return tuple(workload.shape for workload in self.workloads)

    def problems(self) -> Iterator[Problem]:
        """Yield the validation errors of the settings."""
        if self.purge_mode not in (GRACEFULLY, DIRECTLY):
            yield Problem(
                Message(
                    "not-purge-mode",
                    '"{purge_mode}" is not a purge mode',
                    purge_mode=self.purge_mode,
                ),
                ("purgeMode",),
                f"{GRACEFULLY} or {DIRECTLY}",
            )
        if self.graceful_eviction_timeout < 0:
            yield Problem(
                Message("is-below", "is below 0"),
                ("gracefulEvictionTimeout",),
                "write seconds, 600 for ten minutes",
            )
        for position, workload in enumerate(self.workloads):
            for problem in workload.problems():
                yield attrs.evolve(problem, path=("workloads", position, *problem.path))


def read_settings(manifests: Iterable[Manifest]) -> KarmadaSettings:
    """Return the settings among the manifests; the defaults if there are none.

    Raises:
        FleetError: there are several such objects, or one is invalid.
    """
    found = [
        manifest
        for manifest in manifests
        if (manifest.api_version, manifest.kind) == (API_VERSION, KIND)
    ]
    if len(found) > 1:
        raise FleetError(
            again.problem(
                Message("settings-given-twice", "the settings are given twice"),
                (),
                "keep one of the two",
            )
            for again in found[1:]
        )
    return _read(found[0]) if found else KarmadaSettings()


def _read(manifest: Manifest) -> KarmadaSettings:
    spec = manifest.data.get("spec")
    try:
        settings: KarmadaSettings = read(KarmadaSettings, {} if spec is None else spec)
        problems = list(settings.problems())
    except MisfitError as misfit:
        problems = list(misfit.problems)
    if problems:
        raise FleetError(
            manifest.problem(problem.message, ("spec", *problem.path), problem.advice)
            for problem in problems
        )
    return settings
