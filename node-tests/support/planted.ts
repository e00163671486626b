import type * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { currentCall } from "maloko";
import type { LawOptions } from "maloko/vitest";
import type { Props } from "./kit";

/** A bucket has a name for life; all else can be changed. */
export class Service {
    readonly buckets = new Map<string, Props>();
    readonly keys = new Map<string, string>();
    last = 0;

    objects() {
        return this.buckets;
    }

    mutateRemote(id: string) {
        Object.assign(this.buckets.get(id) ?? {}, { acl: "changed-by-somebody" });
    }

    make(props: Props, key: string, id = `bucket-${++this.last}`): string {
        const made = this.keys.get(key);
        if (made !== undefined && this.buckets.has(made)) {
            // The program may have been edited since: lifecycles found that out.
            this.buckets.set(made, { ...props });
            return made;
        }
        this.buckets.set(id, { ...props });
        if (key !== "") {
            this.keys.set(key, id);
        }
        return id;
    }
}

/** Keeps all laws. */
export class GoodProvider implements pulumi.dynamic.ResourceProvider {
    protected declare readonly service: Service;

    constructor(service: Service) {
        // Whoever prints a provider is not to see what the service has.
        Object.defineProperty(this, "service", { value: service, enumerable: false });
    }

    async check(_olds: Props, news: Props): Promise<pulumi.dynamic.CheckResult> {
        return { inputs: { ...news, acl: String(news.acl).toLowerCase() } };
    }

    async diff(_id: string, olds: Props, news: Props): Promise<pulumi.dynamic.DiffResult> {
        const changed = ["name", "acl", "size", "password"].filter((key) => olds[key] !== news[key]);
        return { changes: changed.length > 0, replaces: changed.filter((key) => key === "name") };
    }

    async create(inputs: Props) {
        const id = this.service.make(this.stored(inputs), currentCall().operationKey);
        return { id, outs: this.outs(id) };
    }

    async read(id: string, _props?: Props): Promise<pulumi.dynamic.ReadResult> {
        const bucket = this.service.buckets.get(id);
        if (bucket === undefined) {
            return { id: "" };
        }
        const { owner: _, ...inputs } = bucket;
        return { id, props: this.outs(id), inputs };
    }

    async update(id: string, _olds: Props, news: Props) {
        this.service.buckets.set(id, this.stored(news));
        return { outs: this.outs(id) };
    }

    async delete(id: string, _props: Props): Promise<void> {
        this.service.buckets.delete(id);
    }

    protected stored(inputs: Props): Props {
        return { ...inputs, owner: "me" };
    }

    protected outs(id: string): Props {
        return { ...this.service.buckets.get(id), url: `buckets/${id}` };
    }
}

export class SeesNoSize extends GoodProvider {
    override async diff(id: string, olds: Props, news: Props) {
        return super.diff(id, olds, { ...news, size: olds.size });
    }
}

export class ForgetsOwner extends GoodProvider {
    override async update(id: string, _olds: Props, news: Props) {
        this.service.buckets.set(id, news);
        return { outs: this.outs(id) };
    }
}

export class MakesTwo extends GoodProvider {
    override async create(inputs: Props) {
        const id = this.service.make(this.stored(inputs), "");
        return { id, outs: this.outs(id) };
    }
}

export class NewVersion extends GoodProvider {
    protected override outs(id: string) {
        return { ...super.outs(id), version: 2 };
    }

    override async diff(id: string, olds: Props, news: Props) {
        const { changes, replaces = [] } = await super.diff(id, olds, news);
        const old = olds.version !== 2;
        return { changes: changes === true || old, replaces: old ? [...replaces, "version"] : replaces };
    }
}

export const bucketInputs = fc.record({
    name: fc.stringMatching(/^[a-z]{3,8}$/),
    acl: fc.constantFrom("public", "private", "PRIVATE"),
    size: fc.integer({ min: 1, max: 1000 }),
    password: fc.stringMatching(/^[a-z]{8,12}$/),
});

/** With everything that a law may need. */
export const bucketOptions = {
    inputs: bucketInputs,
    world: Service,
    volatile: ["status"],
    secret: ["password"],
    baseline: [
        {
            id: "bucket-1",
            inputs: { name: "one", acl: "public", size: 1, password: "hunter22" },
            outputs: {
                name: "one",
                acl: "public",
                size: 1,
                password: "hunter22",
                owner: "me",
                url: "buckets/bucket-1",
            },
        },
    ],
    seed: 20,
    grace: 100,
} satisfies LawOptions;
