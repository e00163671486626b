// A cloud in memory and a provider of buckets in it, for the tests of the testing kit.
import type * as pulumi from "@pulumi/pulumi";
import { test as base, type World } from "maloko/vitest";
import { type Props, Thing } from "../support/kit";

export class Cloud implements World {
    readonly things = new Map<string, Props>();
    last = 0;

    objects() {
        return this.things;
    }
}

/** Makes buckets; another `name` needs another bucket. */
export class BucketProvider implements pulumi.dynamic.ResourceProvider {
    constructor(private readonly cloud: Cloud) {}

    async diff(_id: string, olds: Props, news: Props) {
        const changed = Object.keys(news).filter((key) => JSON.stringify(olds[key]) !== JSON.stringify(news[key]));
        return { changes: changed.length > 0, replaces: changed.filter((key) => key === "name") };
    }

    async create(inputs: Props) {
        const id = `bucket-${++this.cloud.last}`;
        this.cloud.things.set(id, inputs);
        return { id, outs: { ...inputs } };
    }

    async read(id: string) {
        const props = this.cloud.things.get(id);
        return props === undefined ? { id: "" } : { id, props, inputs: props };
    }

    async update(id: string, _olds: Props, news: Props) {
        this.cloud.things.set(id, news);
        return { outs: news };
    }

    async delete(id: string) {
        this.cloud.things.delete(id);
    }
}

/** A program with one bucket, `b`, whose properties are the inputs. */
export function bucket(cloud: Cloud) {
    return (inputs: Props): void => {
        new Thing(new BucketProvider(cloud), "b", inputs);
    };
}

export const test = base.extend<{ world: Cloud }>({ world: async ({}, use) => use(new Cloud()) });
