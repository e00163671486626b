// Keeps the labels of a repository as the configuration lists them.
import * as pulumi from "@pulumi/pulumi";
import { Label } from "./labels.js";

interface Settings {
    color: string;
    description?: string;
}

const config = new pulumi.Config();
const repository = config.require("repository");

const labels = Object.entries(config.requireObject<Record<string, Settings>>("labels")).map(
    ([name, { color, description }]) => new Label(name, { repository, label: name, color, description }),
);

export const urls = pulumi.all(labels.map(({ label, url }) => pulumi.all([label, url]))).apply(Object.fromEntries);
