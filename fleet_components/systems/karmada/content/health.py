"""Karmada's rules for the health of an object on a member.

Source: ``pkg/resourceinterpreter/default/native/healthy.go`` of Karmada 1.19, and
``interpretHealth`` in ``pkg/controllers/status/work_status_controller.go``: an object of a kind
that has no rule is healthy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from fleet_components.model.manifest import value_at

Health = Literal["Healthy", "Unhealthy", "Unknown"]
UNKNOWN: Health = "Unknown"
_Live = Mapping[str, Any]


def health(live: _Live) -> Health:
    """Return the health of an object as a member has it; unknown if its status is missing or of
    another form.
    """
    kind, status = (str(live.get("apiVersion", "")), str(live.get("kind", ""))), live.get("status")
    # A rule of `_RULES` reads the whole object, a rule of `RULES` its status only.
    rule, of_status = None if _is_inner(live) else _RULES.get(kind), RULES.get(kind)
    if rule is None and of_status is None:
        return "Healthy"
    if status is None:
        return UNKNOWN
    try:
        return (
            "Healthy" if (rule(live) if rule else of_status and of_status(status)) else "Unhealthy"
        )
    except (AttributeError, TypeError):
        return UNKNOWN  # as where a script of Karmada fails


def _is_inner(live: _Live) -> bool:
    """Return whether it is a Service without a load balancer."""
    kind = (live.get("apiVersion"), live.get("kind"))
    return kind == ("v1", "Service") and value_at(live, ("spec", "type")) != "LoadBalancer"


def _count(live: _Live, name: str) -> int:
    return value_at(live, ("status", name)) or 0


def _observed(live: _Live) -> bool:
    """Return whether its controller has seen the object as it is; True if its generation is
    unknown.
    """
    generation = value_at(live, ("metadata", "generation"))
    return generation is None or _count(live, "observedGeneration") == generation


def _replicas(live: _Live) -> int:
    return value_at(live, ("spec", "replicas")) or 0


def _updated(live: _Live) -> bool:
    updated = _count(live, "updatedReplicas")
    return _observed(live) and _replicas(live) <= updated <= _count(live, "availableReplicas")


def _replica_set(live: _Live) -> bool:
    return _observed(live) and _replicas(live) <= _count(live, "availableReplicas")


def _daemon_set(live: _Live) -> bool:
    updated = _count(live, "updatedNumberScheduled")
    return _observed(live) and _count(live, "desiredNumberScheduled") <= updated <= _count(
        live, "numberAvailable"
    )


def _balanced(live: _Live) -> bool:
    points = value_at(live, ("status", "loadBalancer", "ingress")) or ()
    return any(point.get("hostname") or point.get("ip") for point in points)


def _claim(live: _Live) -> bool:
    return bool(value_at(live, ("status", "phase")) == "Bound")


def _pod(live: _Live) -> bool:
    phase = value_at(live, ("status", "phase"))
    ready = any(kind == "Ready" for kind, _ in true_conditions(live["status"]))
    return phase == "Succeeded" or (phase == "Running" and ready)


def _budget(live: _Live) -> bool:
    return _count(live, "currentHealthy") >= _count(live, "desiredHealthy")


_RULES: Mapping[tuple[str, str], Callable[[_Live], bool]] = {
    ("apps/v1", "Deployment"): _updated,
    ("apps/v1", "StatefulSet"): _updated,
    ("apps/v1", "ReplicaSet"): _replica_set,
    ("apps/v1", "DaemonSet"): _daemon_set,
    ("v1", "Service"): _balanced,
    ("networking.k8s.io/v1", "Ingress"): _balanced,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("v1", "Pod"): _pod,
    ("policy/v1", "PodDisruptionBudget"): _budget,
    ("apps.kruise.io/v1alpha1", "CloneSet"): _updated,
    ("apps.kruise.io/v1alpha1", "UnitedDeployment"): _updated,
    ("apps.kruise.io/v1beta1", "StatefulSet"): _updated,
    ("apps.kruise.io/v1alpha1", "DaemonSet"): _daemon_set,
}


# Karmada's rules for the health of the objects of other projects.
#
# Source: the scripts ``InterpretHealth`` in
# ``pkg/resourceinterpreter/default/thirdparty/resourcecustomizations`` of Karmada 1.19.


Status = Mapping[str, Any]
Rule = Callable[[Status], bool]

# Phases of a Volcano Job that count as healthy, whether the Job has ended or not.
_ENDED_WELL = (
    *(
        "Running",
        "Completed",
        "Pending",
        "Aborting",
        "Aborted",
        "Restarting",
        "Completing",
        "Terminating",
    ),
    "Terminated",
)
# States that count as healthy without a look at the error, FAILED among them.
_FLINK_GOES_ON = (
    *("RUNNING", "FINISHED", "FAILED", "CANCELED", "SUSPENDED"),
    *("CANCELLING", "FAILING", "RESTARTING"),
)
_FLINK_BEGINS = ("CREATED", "INITIALIZING", "RECONCILING")
_FAULTS_OF_USERS = ("ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff")


def true_conditions(status: Status) -> list[tuple[str, str]]:
    """Return type and reason of the conditions that are true."""
    conditions = status.get("conditions") or ()
    return [
        (str(condition.get("type")), str(condition.get("reason")))
        for condition in conditions
        if condition.get("status") == "True"
    ]


def _ready(*reasons: str) -> Rule:
    """Return the rule that the condition ``Ready`` is true, for one of the reasons."""
    return lambda status: any(("Ready", reason) in true_conditions(status) for reason in reasons)


def _policy(status: Status) -> bool:
    ready = status.get("ready")
    return _ready("Succeeded")(status) if ready is None else bool(ready)


def _training(status: Status) -> bool:
    # Unlike for `_mpi`, an empty list of conditions is healthy.
    return status.get("conditions") is not None and not _has(status, "Failed")


def _mpi(status: Status) -> bool:
    return bool(status.get("conditions")) and not _has(status, "Failed")


def _has(status: Status, kind: str) -> bool:
    return any(kind == text for text, _ in true_conditions(status))


def _notebook(status: Status) -> bool:
    state = status.get("containerState") or {}
    if state.get("running") is not None:
        return True
    if state.get("waiting") is not None:
        return bool(state["waiting"].get("reason") == "ContainerCreating")
    ended = state.get("terminated")
    failed = ("Error", "OOMKilled", "ContainerCannotRun")
    return ended is not None and ended.get("reason") not in failed and not ended.get("exitCode")


def _ray_cluster(status: Status) -> bool:
    ready = _has(status, "HeadPodReady") and _has(status, "RayClusterProvisioned")
    return ready and not _has(status, "RayClusterReplicaFailure")


def _ray_job(status: Status) -> bool:
    deployment = status.get("jobDeploymentStatus")
    return deployment == "Running" or (
        deployment == "Complete" and status.get("jobStatus") == "SUCCEEDED"
    )


def _ray_service(status: Status) -> bool:
    return _has(status, "Ready")


def _spark(status: Status) -> bool:
    return value_at(status, ("applicationState", "state")) not in (None, "FAILED")


def _flink(status: Status) -> bool:
    state = value_at(status, ("jobStatus", "state"))
    if state is None:
        return (
            status.get("jobManagerDeploymentStatus") == "READY"
            and status.get("lifecycleState") == "STABLE"
        )
    error = str(status.get("error") or "")
    return state in _FLINK_GOES_ON or (
        state in _FLINK_BEGINS and any(fault in error for fault in _FAULTS_OF_USERS)
    )


def _workflow(status: Status) -> bool:
    return status.get("phase") not in (None, "", "Error", "Failed")


def _volcano(status: Status) -> bool:
    return value_at(status, ("state", "phase")) in _ENDED_WELL


def _broadcast(status: Status) -> bool:
    # An absent count is not 0, as nil is not in the script.
    begun = status.get("succeeded") != 0 or status.get("active") != 0
    return status.get("desired") != 0 and status.get("failed") == 0 and begun


def _sidecars(status: Status) -> bool:
    matched = status.get("matchedPods") or 0
    return matched in (0, status.get("updatedPods") or 0)


RULES: Mapping[tuple[str, str], Rule] = {
    ("apps.kruise.io/v1alpha1", "BroadcastJob"): _broadcast,
    ("apps.kruise.io/v1alpha1", "SidecarSet"): _sidecars,
    ("argoproj.io/v1alpha1", "Workflow"): _workflow,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano,
    ("flink.apache.org/v1beta1", "FlinkDeployment"): _flink,
    ("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease"): _ready("ReconciliationSucceeded"),
    ("kubeflow.org/v1", "Notebook"): _notebook,
    ("kubeflow.org/v1", "PyTorchJob"): _training,
    ("kubeflow.org/v1", "TFJob"): _training,
    ("kubeflow.org/v2beta1", "MPIJob"): _mpi,
    ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"): _ready("ReconciliationSucceeded"),
    ("kyverno.io/v1", "ClusterPolicy"): _policy,
    ("kyverno.io/v1", "Policy"): _policy,
    ("ray.io/v1", "RayCluster"): _ray_cluster,
    ("ray.io/v1", "RayJob"): _ray_job,
    ("ray.io/v1", "RayService"): _ray_service,
    ("source.toolkit.fluxcd.io/v1", "GitRepository"): _ready("Succeeded"),
    ("source.toolkit.fluxcd.io/v1beta2", "Bucket"): _ready("Succeeded"),
    ("source.toolkit.fluxcd.io/v1beta2", "HelmChart"): _ready("Succeeded", "ChartPullSucceeded"),
    ("source.toolkit.fluxcd.io/v1beta2", "HelmRepository"): _ready("Succeeded"),
    ("source.toolkit.fluxcd.io/v1beta2", "OCIRepository"): _ready("Succeeded"),
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"): _spark,
}
"""Rules by kind; each looks at the status alone."""
