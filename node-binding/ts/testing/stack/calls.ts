// What providers were asked in the course of a test.

import { forSnapshots } from "../serializers";

/** A call of a provider's method. Secrets in it are hidden: `[secret]`. */
export interface Call {
    /** The resource's name. */
    name: string;
    type: string;
    urn: string;
    method: string;
    /** By their names: `props` of `create`; `id`, `olds` and `news` of `update`; and so on. */
    args: Record<string, unknown>;
    /** What it answered; null when it failed, or has not answered. */
    result: unknown;
    /** Why it failed. */
    error: { kind: string; message: string } | null;
    /** Was it stubbed, or failed by the test? */
    faulted: boolean;
}

/** A call of a provider's method, as the engine's side writes it. */
export type ReportedCall = Omit<Call, "args"> & { arguments: Call["args"] };

/** The last call by resource name. */
export type CallsByName = Record<string, Call>;

/** The log of a stack's calls. */
export class Calls {
    readonly #all: Call[] = [];

    add(calls: ReportedCall[]): void {
        for (const { arguments: args, ...call } of calls) {
            this.#all.push(forSnapshots({ ...call, args }));
        }
    }

    /** All calls, in the order in which they began. */
    get all(): Call[] {
        return forSnapshots([...this.#all]);
    }

    /** The calls of a method, of one resource or of all. */
    of(method: string, name?: string): Call[] {
        const found = this.#all.filter((it) => it.method === method && (name === undefined || it.name === name));
        return forSnapshots(found);
    }

    /** Forgets what was called so far. */
    clear(): void {
        this.#all.length = 0;
    }

    /** One line for each call. */
    toString(): string {
        const outcome = (call: Call): string =>
            call.error === null ? (call.faulted ? " (stubbed)" : "") : ` failed: ${call.error.message.split("\n")[0]}`;
        return this.#all.map((call) => `${call.method} of ${call.name}${outcome(call)}`).join("\n");
    }

    get configure(): CallsByName {
        return this.#last("configure");
    }

    get check(): CallsByName {
        return this.#last("check");
    }

    get diff(): CallsByName {
        return this.#last("diff");
    }

    get create(): CallsByName {
        return this.#last("create");
    }

    get read(): CallsByName {
        return this.#last("read");
    }

    get update(): CallsByName {
        return this.#last("update");
    }

    get delete(): CallsByName {
        return this.#last("delete");
    }

    #last(method: string): CallsByName {
        return forSnapshots(Object.fromEntries(this.of(method).map((call) => [call.name, call])));
    }
}
