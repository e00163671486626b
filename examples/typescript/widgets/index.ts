// Keeps one widget for each entry of the configuration.
import * as pulumi from "@pulumi/pulumi";
import { Widget } from "./widgets";

const sizes = new pulumi.Config().requireObject<Record<string, string>>("sizes");

export const widgets = Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => {
        const widget = new Widget(name, { title: `${name} of ${pulumi.getStack()}`, size });
        return [name, { id: widget.id, revision: widget.revision }];
    }),
);
