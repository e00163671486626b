// Provider classes and helpers that many tests use.
import * as pulumi from "@pulumi/pulumi";
import { Stack, type StackOptions } from "./stacks";

export type Props = Record<string, any>;

/** A stack in memory, whose key costs nothing. */
export function newStack(options: StackOptions = {}): Stack {
    return new Stack(options);
}

/** A resource whose provider is given; `outputs` are declared beside the inputs. */
export class Thing extends pulumi.dynamic.Resource {
    [output: string]: any;

    constructor(
        provider: object,
        name: string,
        props: Props = {},
        opts?: pulumi.CustomResourceOptions,
        outputs: string[] = [],
    ) {
        const declared = Object.fromEntries(outputs.map((output) => [output, undefined]));
        super(provider as pulumi.dynamic.ResourceProvider, name, { ...declared, ...props }, opts);
    }
}

/** Notes each call and makes what it is told. */
export class Recording {
    readonly calls: [string, ...unknown[]][] = [];

    async check(olds: Props, news: Props) {
        this.calls.push(["check", olds, news]);
        return { inputs: news };
    }

    async diff(id: string, olds: Props, news: Props) {
        this.calls.push(["diff", id, olds, news]);
        return { changes: JSON.stringify(olds) !== JSON.stringify(news) };
    }

    async create(inputs: Props) {
        this.calls.push(["create", inputs]);
        return { id: "made", outs: inputs };
    }

    async update(id: string, olds: Props, news: Props) {
        this.calls.push(["update", id, olds, news]);
        return { outs: news };
    }

    async delete(id: string, props: Props) {
        this.calls.push(["delete", id, props]);
    }
}

/** Makes what it is told, and keeps nothing. */
export class Echo {
    async create(inputs: Props) {
        return { id: "made", outs: inputs };
    }
}

/** A provider whose `create` begins, and ends when it is let go. */
export function heldCreate() {
    let begin = (): void => {};
    let letGo = (): void => {};
    const begun = new Promise<void>((resolve) => {
        begin = resolve;
    });
    const end = new Promise<void>((resolve) => {
        letGo = resolve;
    });
    const provider = {
        create: async (inputs: Props) => {
            begin();
            await end;
            return { id: "made", outs: inputs };
        },
    };
    return { provider, begun, letGo: () => letGo() };
}

/** Does something while another run, which has made this resource, goes on. */
export async function besideAnotherRun(
    first: () => Thing,
    action: () => Promise<void>,
    options: StackOptions = {},
): Promise<void> {
    const { provider, begun, letGo } = heldCreate();
    const run = newStack(options).up(() => void new Thing(provider, "waiting", { first: first().id }));
    await Promise.race([begun, run]);
    try {
        await action();
    } finally {
        letGo();
    }
    await run;
}

/** A provider whose `create` returns exactly that. */
export function creating(outs: unknown, ...id: [unknown?]): object {
    return { create: async () => ({ id: id.length === 0 ? "made" : id[0], outs }) };
}

/** The message with which an operation fails. */
export async function failureOf(run: Promise<unknown>): Promise<Error> {
    try {
        await run;
    } catch (error) {
        return error as Error;
    }
    throw new Error("the operation succeeded");
}
