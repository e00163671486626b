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
    /** Why it failed; null when it did not. */
    error: string | null;
    /** `raised`, `bad-return`, `partial`, `timed-out`, `interrupted`, ...; null when it did not fail. */
    errorKind: string | null;
    /** Was it stubbed, or failed by the test? */
    faulted: boolean;
}

/** A call of a provider's method, as the engine's side writes it. */
export type ReportedCall = Omit<Call, "args" | "error" | "errorKind"> & {
    arguments: Call["args"];
    error: { kind: string; message: string } | null;
};

/** That, as tests see it. */
export function callOf({ arguments: args, error, ...call }: ReportedCall): Call {
    return forSnapshots({ ...call, args, error: error?.message ?? null, errorKind: error?.kind ?? null });
}

/** The last call by resource name. */
export type CallsByName = Record<string, Call>;

/** The log of a stack's calls. */
export class Calls {
    readonly #all: Call[] = [];

    /** @internal */
    add(calls: readonly Call[]): void {
        this.#all.push(...calls);
    }

    /** All calls in the order in which they began, for one resource or for all. */
    all(name?: string): Call[] {
        return forSnapshots(this.#all.filter((it) => name === undefined || it.name === name));
    }

    /** The calls of a method, for one resource or for all. */
    of(method: string, name?: string): Call[] {
        return forSnapshots(this.all(name).filter((it) => it.method === method));
    }

    /** Forgets what was called so far. */
    clear(): void {
        this.#all.length = 0;
    }

    /** One line for each call. */
    toString(): string {
        const outcome = (call: Call): string =>
            call.error === null ? (call.faulted ? " (stubbed)" : "") : ` failed: ${call.error.split("\n")[0]}`;
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

    get find(): CallsByName {
        return this.#last("find");
    }

    get close(): CallsByName {
        return this.#last("close");
    }

    #last(method: string): CallsByName {
        return forSnapshots(Object.fromEntries(this.of(method).map((call) => [call.name, call])));
    }
}
