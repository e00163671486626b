// One logged call of a provider, made again: a bug report becomes a test.
import { describe, describeWithCauses, messageOf } from "../../process/errors";
import { type Direct, direct, type ProviderLike } from "../direct";
import { ask } from "../judgement";
import type { Call } from "../stack/calls";
import { plainJson } from "../values";

/** A call as it stands in a file. In `result` and `error` a text `*` stands for anything, and within a text for any part of it. */
export type LoggedCall = Pick<Call, "method" | "args" | "result" | "error">;

/** Writes a call to a file (JSON), for {@link replay}. Secrets in it are hidden. Throws where it cannot be written. */
export function saveCall(call: Call, file: string): void {
    ask({ ask: "save_call", file, call: told(call) });
}

/**
 * Makes a logged call again, without an engine, and gives its answer: undefined where it fails as it did then. `logged`: the
 * call, or its file. What was secret in it is the text `[secret]` now, and in the answer stands for anything. `config` is what
 * `configure` is given before, and `project` the project of both. Throws when the call does not come to the same, and where there is none that could be made again.
 */
export async function replay(
    provider: ProviderLike,
    logged: LoggedCall | string,
    { config = {}, project }: { config?: Record<string, string>; project?: string } = {},
): Promise<unknown> {
    const how = "`saveCall(s.calls.create.b, path)`";
    const given = typeof logged === "string" ? logged : told(logged);
    const { call, arguments: args } = ask<{ call: LoggedCall; arguments: unknown[] }>({
        ask: "call_to_repeat",
        logged: given,
        how,
    });
    let answer: unknown;
    let failure: unknown;
    let outcome: { answered: unknown } | { failed: string[] };
    try {
        await using called = direct(provider);
        if (call.method === "configure") {
            await called.configure(args[0] as Record<string, string>, project);
        } else {
            await called.configure(config, project);
            answer = await (called[call.method as keyof Direct] as (...args: unknown[]) => Promise<unknown>)(...args);
        }
        outcome = { answered: plainJson(named(answer, call.method)) ?? null };
    } catch (thrown) {
        failure = thrown;
        outcome = { failed: [describeWithCauses(thrown), describe(thrown), messageOf(thrown)] };
    }
    const difference = ask<string | null>({ ask: "call_difference", call, outcome });
    if (difference !== null) {
        throw new Error(difference, { cause: failure });
    }
    return answer;
}

function told({ method, args, result, error }: LoggedCall): Record<string, unknown> {
    return { method, args: plainJson(args), result: plainJson(result ?? null), error };
}

/** An answer with the names that a log has. */
function named(answer: unknown, method: string): unknown {
    if (method !== "read" && method !== "find") {
        return answer;
    }
    const { props: outs, ...rest } = answer as Awaited<ReturnType<Direct["read"]>>;
    return { ...rest, outs };
}
