"""The shop, as a program for one cluster makes it: plain resources of the Kubernetes provider."""

import pulumi
import pulumi_kubernetes as k8s


def shop() -> None:
    """Make it: a Namespace, and in it a ConfigMap, a Secret and a Deployment that reads both."""
    namespace = k8s.core.v1.Namespace("shop")
    inside = {"namespace": namespace.metadata["name"]}
    prices = k8s.core.v1.ConfigMap("prices", metadata=inside, data={"currency": "EUR"})
    token = pulumi.Config().require_secret("token")
    payment = k8s.core.v1.Secret("payment", metadata=inside, string_data={"token": token})
    labels = {"app": "storefront"}
    container = {
        "name": "storefront",
        "image": "nginx:1.27.5",
        "env_from": [
            {"config_map_ref": {"name": prices.metadata["name"]}},
            {"secret_ref": {"name": payment.metadata["name"]}},
        ],
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 2, "selector": {"match_labels": labels}, "template": template}
    k8s.apps.v1.Deployment("storefront", metadata=inside, spec=spec)
