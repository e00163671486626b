import { core, Provider } from "@pulumi/kubernetes";
import { Deployment } from "@pulumi/kubernetes/apps/v1/index.js";
import { Color, MyResource, getThing, getThingOutput, shapes } from "@acme/features";
import { retries } from "@acme/features/config/index.js";
import { getResult } from "@acme/features/getResult.js";

export const values: unknown[] = [core.v1.Pod, Provider, Deployment, Color.Red, MyResource, getThing, getThingOutput, shapes.v1.Shape, retries, getResult];
if (values.some(value => value === undefined)) {
    throw new Error("a name has no value");
}
