import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { input as inputs, output as outputs } from "@pulumi/kubernetes/types";
import { Deployment } from "@pulumi/kubernetes/apps/v1";
import { ConfigMap, ConfigMapArgs } from "@pulumi/kubernetes/core/v1/configMap";

const provider = new k8s.Provider("cluster", { kubeconfig: pulumi.secret("{}"), helmReleaseSettings: { driver: "secret" } });
const labels = { app: "web" };
const container: inputs.core.v1.Container = { name: "web", image: pulumi.interpolate`nginx:${"1"}`, ports: [{ containerPort: 80 }] };
const web = new Deployment(
    "web",
    { spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } } },
    { provider, dependsOn: [] },
);
const service: k8s.core.v1.Service = new k8s.core.v1.Service("web", {
    metadata: { labels: web.metadata.labels },
    spec: { type: k8s.core.v1.ServiceSpecType.LoadBalancer, ports: [{ port: 80, targetPort: "http" }], selector: labels },
});
const args: ConfigMapArgs = { data: { a: "b" } };
const map = new ConfigMap("map", args);
const found = k8s.core.v1.Namespace.get("found", "default");
const kind: pulumi.Output<"Deployment"> = web.kind;
const address: pulumi.Output<string> = service.status.loadBalancer.ingress[0].ip;
const spec: pulumi.Output<outputs.apps.v1.DeploymentSpec> = web.spec;
const ready = web.status.apply(status => (status.conditions ?? []).map(condition => condition.type));
const type: k8s.types.enums.core.v1.ServiceSpecType = "ClusterIP";
const names = [map, found].map(object => (object instanceof ConfigMap ? object.data.apply(data => Object.keys(data)) : pulumi.output([""])));
export const anything: unknown[] = [kind, address, spec, ready, type, names, k8s.helm.v3.Release, k8s.yaml.v2.ConfigGroup];

// @ts-expect-error A number of replicas is no text.
export const wrong: inputs.apps.v1.DeploymentSpec = { replicas: "2", selector: {}, template: {} };
