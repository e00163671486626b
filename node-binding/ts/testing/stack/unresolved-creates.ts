// Creates whose outcome is unknown: which of them a teardown leaves, and how that is told.

import type { NativeStack } from "../../native";
import { parseJson } from "../../originals";
import { ask } from "../judgement";
import type { ReportedCall } from "./calls";

/** A create whose object may exist. One that raised is none: it has made nothing. */
export interface LeftCreate {
    urn: string;
    /** What happened to the create, in one line. */
    text: string;
}

/** What a teardown leaves open. */
export interface LeftCreates {
    left: LeftCreate[];
    /** Those that are settled. */
    forgotten: LeftCreate[];
    /** Names those that are left, and says how that is settled; null without one. */
    text: string | null;
}

/** The keys of which the user says, in a sweep, that it is known what became of their objects. */
export function settledKeys(): string[] {
    const { MALOKO_SWEEP, MALOKO_FORGET_UNRESOLVED: keys } = process.env;
    return MALOKO_SWEEP && keys !== undefined ? [keys] : [];
}

/** Judges the unresolved creates of a state after these calls. `again`: the command that runs the test. */
export function leftCreates(
    native: NativeStack,
    calls: readonly ReportedCall[],
    again: string,
    settled: string[],
): LeftCreates {
    return ask({
        ask: "unresolved",
        creates: parseJson(native.unresolvedCreates()),
        calls: calls.map(({ urn, method, error }) => ({ urn, method, failed: error !== null })),
        settled,
        command: `MALOKO_SWEEP=1 MALOKO_FORGET_UNRESOLVED='{keys}' ${again}`,
    });
}
