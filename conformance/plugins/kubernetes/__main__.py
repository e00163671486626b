"""Resources of Kubernetes, rendered as YAML into a folder: no cluster is asked. $STAGE says how far the program got."""

import os

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi.dynamic import CreateResult, DiffResult, Resource, ResourceProvider, UpdateResult

stage = int(os.environ["STAGE"])
GROUP = """
apiVersion: v1
kind: ConfigMap
metadata: {{name: stays}}
data: {{round: "{stage}"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: of-round-{stage}}}
"""


class NoteProvider(ResourceProvider):
    def diff(self, _id, _olds, _news):
        return DiffResult(changes=_olds["text"] != _news["text"])

    def create(self, props):
        return CreateResult("note-1", {**props, "length": len(props["text"])})

    def update(self, _id, _olds, _news):
        return UpdateResult({**_news, "length": len(_news["text"])})


class Note(Resource):
    length: pulumi.Output[int]

    def __init__(self, name, text, opts=None):
        super().__init__(NoteProvider(), name, {"text": text, "length": None}, opts)


provider = kubernetes.Provider("rendering", render_yaml_to_directory="rendered")
rendered = pulumi.ResourceOptions(provider=provider)
space = kubernetes.core.v1.Namespace("space", metadata={"name": "shop"}, opts=rendered)
labels = {"app": "shop"}
note = Note("note", space.metadata.apply(lambda metadata: f"in {metadata.name}, round {min(stage, 2)}"))
# Its name is made by the plugin.
settings = kubernetes.core.v1.ConfigMap(
    "settings",
    metadata={"namespace": space.metadata.name},
    data={"note": note.length.apply(str), "round": str(min(stage, 2))},
    opts=rendered,
)
keys = kubernetes.core.v1.Secret(
    "keys",
    metadata=kubernetes.meta.v1.ObjectMetaArgs(name="keys", namespace=space.metadata.name),
    string_data={"password": pulumi.Output.secret(f"s3cret {stage}")},
    opts=rendered,
)
container = kubernetes.core.v1.ContainerArgs(
    name="shop",
    image=f"example.com/shop:{stage}",
    ports=[{"container_port": 8080}],
    env=[{"name": "ROUND", "value_from": {"config_map_key_ref": {"name": settings.metadata.name, "key": "round"}}}],
    resources={"limits": {"memory": "64Mi"}},
)
deployment = kubernetes.apps.v1.Deployment(
    "shop",
    metadata={"name": "shop", "namespace": space.metadata.name, "labels": labels},
    spec={
        "replicas": stage,
        "selector": {"match_labels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    },
    opts=rendered,
)
service = kubernetes.core.v1.Service(
    "front" if stage < 3 else "renamed",
    metadata={"name": "shop", "namespace": space.metadata.name},
    spec={"selector": labels, "ports": [{"port": 80, "target_port": 8080}], "type": "ClusterIP"},
    opts=pulumi.ResourceOptions(provider=provider, aliases=[pulumi.Alias(name="front")]),
)
if stage == 2:
    kubernetes.core.v1.ConfigMap("for-a-while", metadata={"name": "for-a-while"}, data={"a": "b"}, opts=rendered)
# Components that the plugin makes; their children are registered by it.
group = kubernetes.yaml.v2.ConfigGroup("group", yaml=GROUP.format(stage=stage), opts=rendered)
chart = kubernetes.helm.v4.Chart("chart", chart="./chart", values={"size": f"size {stage}"}, opts=rendered)
pulumi.export("group", group.resources.apply(len))
pulumi.export("chart", chart.resources.apply(len))
pulumi.export("image", deployment.spec.template.spec.containers[0].image)
pulumi.export("settings", settings.metadata.name)
pulumi.export("password", keys.string_data)
pulumi.export("port", service.spec.ports[0].port)
