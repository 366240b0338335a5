"""The program before: it manages its objects itself."""

import pulumi
import pulumi_kubernetes as k8s

east = k8s.Provider("east", kubeconfig=pulumi.Config().require_object("kubeconfigs")["east"])
there = pulumi.ResourceOptions(provider=east)
namespace = k8s.core.v1.Namespace("shop", metadata={"name": "shop"}, opts=there)
inside = pulumi.ResourceOptions(provider=east, parent=namespace)
k8s.core.v1.ConfigMap(
    "prices", metadata={"name": "prices", "namespace": "shop"}, data={"tea": "3"}, opts=inside
)
k8s.apps.v1.Deployment(
    "web",
    metadata={"name": "web", "namespace": "shop"},
    spec={
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.28.0"}]},
        },
    },
    opts=inside,
)
