// A service of buckets in memory, a provider that keeps all laws, and one provider for each law that breaks it.
import { createHash } from "node:crypto";
import type * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { currentCall } from "maloko";
import type { LawName, LawOptions } from "maloko/vitest";
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

const tick = (ms = 0) => new Promise<void>((resolve) => setTimeout(resolve, ms));

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

class ChangesItsArgument extends GoodProvider {
    override async check(_olds: Props, news: Props) {
        news.acl = String(news.acl).toLowerCase();
        news.seen = true;
        const { seen: _, ...inputs } = news;
        return { inputs };
    }
}

class NeverReady extends GoodProvider {
    override async create(inputs: Props) {
        const { id, outs } = await super.create(inputs);
        return { id, outs: { ...outs, status: "pending" } };
    }

    override async diff(id: string, olds: Props, news: Props) {
        const { changes, replaces = [] } = await super.diff(id, olds, news);
        return { changes: changes === true || olds.status === "pending", replaces };
    }
}

class ReadsHalf extends GoodProvider {
    override async read(id: string) {
        const { props, ...rest } = await super.read(id);
        const { url: _, ...half } = props ?? {};
        return { ...rest, props: half };
    }
}

class SeesNoSize extends GoodProvider {
    override async diff(id: string, olds: Props, news: Props) {
        return super.diff(id, olds, { ...news, size: olds.size });
    }
}

class ForgetsOwner extends GoodProvider {
    override async update(id: string, _olds: Props, news: Props) {
        this.service.buckets.set(id, news);
        return { outs: this.outs(id) };
    }
}

class SameIdAgain extends GoodProvider {
    override async create(inputs: Props) {
        const { name: _, ...rest } = inputs;
        const id = createHash("sha256").update(JSON.stringify(rest)).digest("hex");
        this.service.make(this.stored(inputs), currentCall().operationKey, id);
        return { id, outs: this.outs(id) };
    }
}

class NeedsRoom extends GoodProvider {
    override async create(inputs: Props) {
        const taken = [...this.service.buckets.values()].some(({ size }) => size === inputs.size);
        if (taken && !this.service.keys.has(currentCall().operationKey)) {
            throw new Error(`a bucket of ${inputs.size} GB is there already`);
        }
        return super.create(inputs);
    }
}

class DeletesOnce extends GoodProvider {
    override async delete(id: string) {
        if (!this.service.buckets.delete(id)) {
            throw new Error(`404: there is no bucket ${id}`);
        }
    }
}

class ReadsWhatItKnows extends GoodProvider {
    override async read(id: string, props?: Props) {
        const answer = await super.read(id);
        return answer.id === "" || props?.url !== undefined ? answer : { ...answer, props: { url: `buckets/${id}` } };
    }
}

class AsksTheNetwork extends GoodProvider {
    override async diff(id: string, olds: Props, news: Props) {
        await fetch(`http://127.0.0.1:49151/buckets/${id}`).catch(() => undefined);
        return super.diff(id, olds, news);
    }
}

class Remembers extends GoodProvider {
    readonly #known = new Map<string, Props>();

    override async read(id: string) {
        const answer = await super.read(id);
        const known = this.#known.get(id);
        if (answer.id !== "" && known === undefined) {
            this.#known.set(id, answer);
        }
        return answer.id === "" ? answer : { ...answer, ...known };
    }

    override async create(inputs: Props) {
        const made = await super.create(inputs);
        await this.read(made.id);
        return made;
    }

    override async update(id: string, olds: Props, news: Props) {
        const updated = await super.update(id, olds, news);
        this.#known.delete(id);
        await this.read(id);
        return updated;
    }
}

class TellsThePassword extends GoodProvider {
    protected override outs(id: string) {
        const bucket = this.service.buckets.get(id);
        return { ...bucket, url: `https://me:${bucket?.password}@buckets/${id}` };
    }
}

class MakesTwo extends GoodProvider {
    override async create(inputs: Props) {
        const id = this.service.make(this.stored(inputs), "");
        return { id, outs: this.outs(id) };
    }
}

class NeverGivesUp extends GoodProvider {
    override async create(inputs: Props) {
        const { signal } = currentCall();
        for (let attempt = 0; attempt < 50; attempt++) {
            try {
                await tick();
                signal.throwIfAborted();
                break;
            } catch {
                await tick(10); // Whatever it was: try again.
            }
        }
        return super.create(inputs);
    }
}

class CountsTooFar extends GoodProvider {
    protected override outs(id: string) {
        return { ...super.outs(id), bytes: 2 ** 60 };
    }
}

class NewVersion extends GoodProvider {
    protected override outs(id: string) {
        return { ...super.outs(id), version: 2 };
    }

    override async diff(id: string, olds: Props, news: Props) {
        const { changes, replaces = [] } = await super.diff(id, olds, news);
        const old = olds.version !== 2;
        return { changes: changes === true || old, replaces: old ? [...replaces, "version"] : replaces };
    }
}

class SharesItsRequest extends GoodProvider {
    private declare request: Props;

    override async create(inputs: Props) {
        Object.defineProperty(this, "request", { value: inputs, configurable: true, enumerable: false });
        await tick();
        return super.create(this.request);
    }
}

/** A provider that breaks a law. */
export interface Planted {
    law: LawName;
    what: string;
    provider: new (service: Service) => object;
}

export const PLANTED: Planted[] = [
    { law: "L1", what: "a check that changes its argument", provider: ChangesItsArgument },
    { law: "L2", what: "a diff that finds a new object unfinished", provider: NeverReady },
    { law: "L3", what: "a read that leaves out an output", provider: ReadsHalf },
    { law: "L4", what: "a diff that does not see a property", provider: SeesNoSize },
    { law: "L5", what: "an update that loses a field", provider: ForgetsOwner },
    { law: "L6", what: "a replacement with the id of the old object", provider: SameIdAgain },
    { law: "L7", what: "a replacement that cannot exist beside the old object", provider: NeedsRoom },
    { law: "L8", what: "a delete that fails when the object is gone", provider: DeletesOnce },
    { law: "L9", what: "a read that needs what only the state has", provider: ReadsWhatItKnows },
    { law: "L10", what: "a diff that asks the network", provider: AsksTheNetwork },
    { law: "L11", what: "a read that remembers", provider: Remembers },
    { law: "L12", what: "an output with the password in it", provider: TellsThePassword },
    { law: "L13", what: "a create without an idempotency key", provider: MakesTwo },
    { law: "L14", what: "a create that tries again when it is cancelled", provider: NeverGivesUp },
    { law: "L15", what: "a number that loses digits", provider: CountsTooFar },
    { law: "L16", what: "a new output that replaces old objects", provider: NewVersion },
    { law: "L17", what: "a request shared by all calls", provider: SharesItsRequest },
];

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
