// One logged call of a provider, made again: a bug report becomes a test.
import * as fs from "node:fs";
import { parseJson } from "../../originals";
import { messageOf } from "../../process/errors";
import { mapMembers } from "../../process/members";
import { type Direct, direct, type ProviderLike } from "../direct";
import type { Call } from "../stack/calls";
import { ANY, difference, fits, HIDDEN } from "../values";

/** A call as it stands in a file. A text `*` in the result stands for anything, and within a text for any part of it. */
export interface LoggedCall {
    method: string;
    args: Record<string, unknown>;
    result: unknown;
    /** Why it failed; null when it did not. */
    error: string | null;
}

/** Writes a call to a file (JSON), for {@link replay}. Secrets in it are hidden. */
export function saveCall({ method, args, result, error }: Call, file: string): void {
    const call: LoggedCall = { method, args, result, error };
    fs.writeFileSync(file, `${JSON.stringify(call, undefined, 2)}\n`);
}

/**
 * Makes a logged call again, of this provider, and fails unless it answers as it did then. `logged`: the call, or its file.
 * What was secret in it is the text `[secret]` now, and in the answer stands for anything.
 */
export async function replay(provider: ProviderLike, logged: LoggedCall | string): Promise<void> {
    const { method, args, result, error } = typeof logged === "string" ? readCall(logged) : logged;
    let answer: unknown;
    try {
        await using called = direct(provider);
        answer = await call(called, method, args);
    } catch (thrown) {
        const message = messageOf(thrown);
        if (error === null) {
            throw new Error(`\`${method}\` fails, which it did not when it was logged: ${message}`, { cause: thrown });
        }
        // The engine says the class before the message.
        if (!fits(`*${pattern(message)}*`, error) && !fits(`*${pattern(error)}*`, message)) {
            throw new Error(`\`${method}\` fails otherwise than logged: ${message}\nlogged: ${error}`, {
                cause: thrown,
            });
        }
        return;
    }
    if (error !== null) {
        throw new Error(`\`${method}\` does not fail, as it did when it was logged: ${error}`);
    }
    const wrong = difference(answer, expectedOf(result));
    if (wrong !== undefined) {
        throw new Error(`\`${method}\` does not answer as logged: ${wrong}`);
    }
}

function readCall(file: string): LoggedCall {
    let call: Partial<LoggedCall> | null;
    try {
        call = parseJson(fs.readFileSync(file, "utf8")) as Partial<LoggedCall> | null;
    } catch (error) {
        throw new Error(`the call in ${file} cannot be read: ${messageOf(error)}`, { cause: error });
    }
    if (typeof call?.method !== "string" || typeof call.args !== "object" || call.args === null) {
        throw new Error(`${file} is no logged call: it has no \`method\` with \`args\``);
    }
    return { method: call.method, args: call.args, result: call.result ?? null, error: call.error ?? null };
}

async function call(provider: Direct, method: string, args: Record<string, unknown>): Promise<unknown> {
    const {
        id = "",
        olds = {},
        news = {},
        props = {},
        config = {},
    } = args as {
        id?: string;
        olds?: Record<string, unknown>;
        news?: Record<string, unknown>;
        props?: Record<string, unknown>;
        config?: Record<string, string>;
    };
    switch (method) {
        case "configure":
            return provider.configure(config);
        case "check":
            return provider.check(olds, news);
        case "diff":
            return provider.diff(id, olds, news);
        case "create":
            return provider.create(props);
        case "read": {
            const { props: outs, ...rest } = await provider.read(id, props);
            return { ...rest, outs };
        }
        case "update":
            return provider.update(id, olds, news);
        case "delete":
            return provider.delete(id, props);
        default:
            throw new Error(`a call of \`${method}\` cannot be replayed: it is no method of a provider`);
    }
}

function pattern(text: string): string {
    return text.replaceAll(HIDDEN, "*");
}

// With what stands for anything in the place of its sign.
function expectedOf(value: unknown): unknown {
    if (typeof value === "string") {
        const wanted = pattern(value);
        const isSome = (actual: unknown): boolean => typeof actual === "string" && fits(wanted, actual);
        return wanted === "*" ? ANY : wanted.includes("*") ? { asymmetricMatch: isSome, toString: () => value } : value;
    }
    if (value !== null && typeof value === "object") {
        return mapMembers(value, expectedOf);
    }
    // What has no answer (`configure`, `delete`) is logged as null.
    return value ?? undefined;
}
