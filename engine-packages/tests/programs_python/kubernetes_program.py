import pulumi
import pulumi_kubernetes as k8s
import pulumi_kubernetes.apps.v1 as apps
from pulumi_kubernetes.core.v1 import (
    ConfigMap,
    ContainerArgs,
    Namespace,
    PodSpecArgs,
    PodTemplateSpecArgs,
    Service,
    ServiceSpecType,
)
from pulumi_kubernetes.core.v1.Secret import Secret
from pulumi_kubernetes.meta.v1 import LabelSelectorArgs, ObjectMetaArgs, ObjectMetaArgsDict
from pulumi_kubernetes.meta.v1.outputs import ObjectMeta

OUTPUTS = {
    "kubernetes:core/v1:Service": {
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1"],
            "ports": [{"port": 80.0, "targetPort": "http", "nodePort": 30000.0}, {"port": 81, "targetPort": 8081.0}],
        },
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4", "ipMode": "VIP"}]}},
    },
}


def name_of(metadata: ObjectMeta) -> str | None:
    return metadata.name


def program() -> dict[str, object]:
    provider = k8s.Provider(
        "provider",
        kubeconfig="{}",
        enable_server_side_apply=True,
        kube_client_settings=k8s.KubeClientSettingsArgs(burst=5, qps=1.5),
    )
    namespace = Namespace(
        "namespace",
        metadata={"name": "apps", "labels": {"some_label": "x", "app.kubernetes.io/name": "y"}},
        opts=pulumi.ResourceOptions(provider=provider),
    )
    labels = {"app": "nginx"}
    deployment = apps.Deployment(
        "nginx",
        metadata=ObjectMetaArgs(namespace=namespace.metadata.name, annotations={"pulumi.com/skipAwait": "true"}),
        spec=apps.DeploymentSpecArgs(
            replicas=2,
            selector=LabelSelectorArgs(match_labels=labels),
            template=PodTemplateSpecArgs(
                metadata=ObjectMetaArgs(labels=labels),
                spec=PodSpecArgs(
                    containers=[
                        ContainerArgs(
                            name="nginx",
                            image="nginx",
                            ports=[k8s.core.v1.ContainerPortArgs(container_port=80, host_ip="0.0.0.0")],
                            env=[
                                k8s.core.v1.EnvVarArgs(
                                    name="A",
                                    value_from=k8s.core.v1.EnvVarSourceArgs(
                                        config_map_key_ref=k8s.core.v1.ConfigMapKeySelectorArgs(key="k", name="n")
                                    ),
                                )
                            ],
                            liveness_probe=k8s.core.v1.ProbeArgs(
                                http_get=k8s.core.v1.HTTPGetActionArgs(port="http", path="/")
                            ),
                            resources=k8s.core.v1.ResourceRequirementsArgs(limits={"cpu": "1", "nvidia.com/gpu": "1"}),
                        )
                    ]
                ),
            ),
        ),
        opts=pulumi.ResourceOptions(provider=provider, depends_on=[namespace]),
    )
    metadata: ObjectMetaArgsDict = {"name": "svc", "labels": labels}
    service = Service(
        "service",
        metadata=metadata,
        spec={
            "type": ServiceSpecType.CLUSTER_IP,
            "selector": labels,
            "ports": [{"port": 80, "target_port": "http", "node_port": 30000}],
        },
    )
    map_ = ConfigMap("map", data={"some_key": "v", "file.txt": deployment.id}, immutable=True)
    secret = Secret("secret", string_data={"a_b": "c"}, api_version="v1", kind="Secret")
    moved = k8s.networking.v1.Ingress(
        "ingress",
        spec={
            "rules": [
                {
                    "host": "a",
                    "http": {
                        "paths": [
                            {
                                "path_type": "Prefix",
                                "path": "/",
                                "backend": {"service": {"name": "s", "port": {"number": 80}}},
                            }
                        ]
                    },
                }
            ]
        },
    )
    patch = k8s.core.v1.NamespacePatch("patch", metadata=k8s.meta.v1.ObjectMetaPatchArgs(name="x", labels={"a": "b"}))
    known = Service.get("known", "default/svc")
    schema = k8s.apiextensions.v1.CustomResourceDefinition(
        "definition",
        spec={
            "group": "example.com",
            "names": {"kind": "Thing", "plural": "things"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "open_apiv3_schema": {
                            "type": "object",
                            "properties": {
                                "some_field": {"type": "string", "x_kubernetes_preserve_unknown_fields": True}
                            },
                        }
                    },
                }
            ],
        },
    )
    storage = k8s.storage.v1.StorageClass(
        "class", k8s.storage.v1.StorageClassInitArgs(provisioner="p", allow_volume_expansion=True)
    )
    release = k8s.helm.v3.Release(
        "release",
        chart="nginx",
        values={"some_value": {"inner_value": 1}},
        repository_opts=k8s.helm.v3.RepositoryOptsArgs(repo="https://example.com"),
    )
    return {
        "namespace": namespace.metadata.apply(name_of),
        "metadata": namespace.metadata,
        "labels": namespace.metadata.labels,
        "service": service.spec,
        "cluster ip": service.spec.cluster_ip,
        "port": service.spec.ports[0].target_port,
        "ports": service.spec.ports.apply(
            lambda ports: [[port.port, port.get("node_port"), port["port"]] for port in ports]
        ),
        "ip": service.status.load_balancer.ingress[0].ip,
        "deployment": deployment.spec,
        "env": deployment.spec.template.spec.containers[0].env[0].value_from.config_map_key_ref.key,
        "map": map_.data,
        "kind": map_.kind,
        "secret": secret.string_data,
        "moved": moved.spec,
        "patch": patch.metadata,
        "known": known.urn,
        "schema": schema.spec,
        "storage": storage.provisioner,
        "release": release.values,
        "enum": ServiceSpecType("LoadBalancer"),
        "modules": [k8s.core.v1.PodSpecArgs.__module__, k8s.core.v1.outputs.PodSpec.__name__],
    }
