// Creates whose outcome is unknown, as they are told to those who have to look for it.
import { parseJson, toJsonText } from "../originals";
import { replacementsOf, scrubbedValues, secretTexts } from "./scrubbing";
import { HIDDEN } from "./values";

const ALL = "all";
// Also for what a newer state knows more of: nothing is known.
const DIED = "its create was under way when the run ended";
const STORIES: Record<string, string> = {
    "timed-out": "its create took longer than it may",
    cancelled: "its create was cancelled",
    unreadable: "its create returned something that cannot be used",
};

interface Resource {
    urn: string;
    id?: string;
}

interface Deployment {
    maloko_suspects?: {
        key?: string;
        doubt: string;
        since?: string;
        attempts?: number;
        error?: string;
        resource: Resource;
    }[];
    pending_operations?: { type: string; resource: Resource }[];
}

/** A create that is open. One that raised is none: it has made nothing. */
export interface UnresolvedCreate {
    urn: string;
    /** The operation key; the URN where there is none, because an older version began the create. */
    key: string;
    /** What happened to the create, and when. */
    story: string;
}

/** Those of an exported state, without the secrets that it knows. */
export function unresolvedCreates(exported: string): UnresolvedCreate[] {
    const state = parseJson(exported) as { deployment: Deployment };
    const { maloko_suspects: records = [], pending_operations: operations = [] } = state.deployment;
    const secrets = replacementsOf(secretTexts(state).map((secret) => [secret, HIDDEN]));
    const found = new Map<string, UnresolvedCreate>();
    for (const { urn } of operations.filter(isCreate).map(({ resource }) => resource)) {
        found.set(urn, { urn, key: urn, story: DIED });
    }
    for (const { key, doubt, since, attempts = 1, error, resource } of records) {
        const { urn, id } = resource;
        found.delete(urn);
        if (doubt === "raised") {
            continue;
        }
        const facts = [
            STORIES[doubt] ?? DIED,
            ...(since ? [`begun ${since}`] : []),
            ...(attempts > 1 ? [`${attempts} attempts`] : []),
            ...(id ? [`id '${id}'`] : []),
            ...(error ? [`error: ${String(scrubbedValues(error, secrets)).replace(/\s+/g, " ")}`] : []),
        ];
        found.set(urn, { urn, key: key || urn, story: facts.join(", ") });
    }
    return [...found.values()];
}

/** An exported state without these creates: it is known what became of their objects. */
export function withoutCreates(exported: string, creates: readonly UnresolvedCreate[]): string {
    const urns = new Set(creates.map(({ urn }) => urn));
    const state = parseJson(exported) as { deployment: Deployment };
    const { maloko_suspects: records = [], pending_operations: operations = [] } = state.deployment;
    state.deployment.maloko_suspects = records.filter(({ resource }) => !urns.has(resource.urn));
    state.deployment.pending_operations = operations.filter((it) => !(isCreate(it) && urns.has(it.resource.urn)));
    return toJsonText(state);
}

/** Does the user say of a create, by its key, that it is known what became of its object? In a sweep: MALOKO_FORGET_UNRESOLVED. */
export function isSettled({ key }: UnresolvedCreate): boolean {
    const { MALOKO_SWEEP, MALOKO_FORGET_UNRESOLVED: keys = "" } = process.env;
    return Boolean(MALOKO_SWEEP) && [keys, ...keys.split(",")].some((given) => given === key || given === ALL);
}

/** A create in one line. */
export function describeCreate({ urn, key, story }: UnresolvedCreate): string {
    const operation = key === urn ? "" : `, operation key ${key}`;
    return `'${urn.slice(urn.lastIndexOf("::") + 2)}' (${story}; ${urn}${operation})`;
}

/** Names what may be left, and says how that is settled. `again`: the command that runs the test. */
export function tellCreates(creates: readonly UnresolvedCreate[], again: string): string {
    const names = creates.map(describeCreate).join("; ");
    const keys = creates.map(({ key }) => key).join(",");
    return (
        `these may have been made: ${names}. Look for each and delete what you find. Then run: ` +
        `MALOKO_SWEEP=1 MALOKO_FORGET_UNRESOLVED='${keys}' ${again}`
    );
}

function isCreate({ type }: { type: string }): boolean {
    return type === "creating";
}
