// Resources of Kubernetes, rendered as YAML into a folder: no cluster is asked. $STAGE says how far the program got.
import * as pulumi from "@pulumi/pulumi";
import * as kubernetes from "@pulumi/kubernetes";

const stage = Number(process.env.STAGE);
const GROUP = `
apiVersion: v1
kind: ConfigMap
metadata: {name: stays}
data: {round: "${stage}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: of-round-${stage}}
`;

class NoteProvider implements pulumi.dynamic.ResourceProvider {
    async diff(id: string, olds: any, news: any) {
        return { changes: olds.text !== news.text };
    }
    async create(props: any) {
        return { id: "note-1", outs: { ...props, length: props.text.length } };
    }
    async update(id: string, olds: any, news: any) {
        return { outs: { ...news, length: news.text.length } };
    }
}

class Note extends pulumi.dynamic.Resource {
    public readonly length!: pulumi.Output<number>;
    constructor(name: string, text: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions) {
        super(new NoteProvider(), name, { text, length: undefined }, opts);
    }
}

const provider = new kubernetes.Provider("rendering", { renderYamlToDirectory: "rendered" });
const space = new kubernetes.core.v1.Namespace("space", { metadata: { name: "shop" } }, { provider });
const namespace = space.metadata.name;
const labels = { app: "shop" };
const note = new Note("note", pulumi.interpolate`in ${namespace}, round ${Math.min(stage, 2)}`);
// Its name is made by the plugin.
const config = new kubernetes.core.v1.ConfigMap(
    "settings",
    {
        metadata: { namespace },
        data: { note: pulumi.interpolate`${note.length}`, round: String(Math.min(stage, 2)) },
    },
    { provider },
);
const keys = new kubernetes.core.v1.Secret(
    "keys",
    { metadata: { name: "keys", namespace }, stringData: { password: pulumi.secret(`s3cret ${stage}`) } },
    { provider },
);
const container = {
    name: "shop",
    image: `example.com/shop:${stage}`,
    ports: [{ containerPort: 8080 }],
    env: [{ name: "ROUND", valueFrom: { configMapKeyRef: { name: config.metadata.name, key: "round" } } }],
    resources: { limits: { memory: "64Mi" } },
};
const deployment = new kubernetes.apps.v1.Deployment(
    "shop",
    {
        metadata: { name: "shop", namespace, labels },
        spec: {
            replicas: stage,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [container] } },
        },
    },
    { provider },
);
const service = new kubernetes.core.v1.Service(
    stage < 3 ? "front" : "renamed",
    {
        metadata: { name: "shop", namespace },
        spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }], type: "ClusterIP" },
    },
    { provider, aliases: [{ name: "front" }] },
);
if (stage === 2) {
    new kubernetes.core.v1.ConfigMap("for-a-while", { metadata: { name: "for-a-while" }, data: { a: "b" } }, { provider });
}
// Components that the plugin makes; their children are registered by it.
const configs = new kubernetes.yaml.v2.ConfigGroup("group", { yaml: GROUP }, { provider });
const release = new kubernetes.helm.v4.Chart("chart", { chart: "./chart", values: { size: `size ${stage}` } }, { provider });
export const group = configs.resources.apply((all) => all.length);
export const chart = release.resources.apply((all) => all.length);
export const image = deployment.spec.template.spec.containers[0].image;
export const settings = config.metadata.name;
export const password = keys.stringData;
export const port = service.spec.ports[0].port;
