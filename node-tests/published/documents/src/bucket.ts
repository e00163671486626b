// What the examples of the documents are about: buckets in a cloud in memory, and their provider.
import * as pulumi from "@pulumi/pulumi";
import { currentCall } from "maloko";
import type { World } from "maloko/vitest";

interface Inputs {
    acl: string;
}

/** A cloud in memory. */
export class FakeCloud implements World {
    readonly buckets = new Map<string, Inputs>();
    readonly keys = new Map<string, string>();

    objects() {
        return [...this.buckets.keys()];
    }
}

/** Buckets: another access list needs another bucket, or an update. */
export class BucketProvider implements pulumi.dynamic.ResourceProvider {
    constructor(private readonly cloud: FakeCloud) {}

    async diff(_id: string, olds: Inputs, news: Inputs) {
        return { changes: olds.acl !== news.acl };
    }

    async create(inputs: Inputs) {
        const id = `bucket-${this.cloud.keys.size + 1}`;
        this.cloud.buckets.set(id, inputs);
        this.cloud.keys.set(currentCall().operationKey, id);
        return { id, outs: inputs };
    }

    async find(key: string) {
        const id = this.cloud.keys.get(key);
        return id === undefined ? undefined : this.read(id);
    }

    async read(id: string) {
        const inputs = this.cloud.buckets.get(id);
        return inputs === undefined ? { id: "" } : { id, props: inputs, inputs };
    }

    async update(id: string, _olds: Inputs, news: Inputs) {
        this.cloud.buckets.set(id, news);
        return { outs: news };
    }

    async delete(id: string) {
        this.cloud.buckets.delete(id);
    }
}

/** A bucket with an access list. */
export class Bucket extends pulumi.dynamic.Resource {
    declare readonly acl: pulumi.Output<string>;

    constructor(name: string, { cloud, acl = "private" }: { cloud: FakeCloud; acl?: string }) {
        super(new BucketProvider(cloud), name, { acl });
    }
}
