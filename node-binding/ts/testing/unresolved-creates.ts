// Creates whose outcome is unknown, as they are told to those who have to look for it.

const ALL = "all";

/** A create whose object may exist. One that raised is none: it has made nothing. */
export interface LeftCreate {
    urn: string;
    /** The operation key; the URN where there is none, because an older version began the create. */
    key: string;
    /** What happened to the create, in one line. */
    text: string;
}

/** Does the user say of a create, by its key, that it is known what became of its object? In a sweep: MALOKO_FORGET_UNRESOLVED. */
export function isSettled({ key }: LeftCreate): boolean {
    const { MALOKO_SWEEP, MALOKO_FORGET_UNRESOLVED: keys = "" } = process.env;
    return Boolean(MALOKO_SWEEP) && [keys, ...keys.split(",")].some((given) => given === key || given === ALL);
}

/** Names what may be left, and says how that is settled. `again`: the command that runs the test. */
export function tellCreates(creates: readonly LeftCreate[], again: string): string {
    const names = creates.map(({ text }) => text).join("; ");
    const keys = creates.map(({ key }) => key).join(",");
    return (
        `these may have been made: ${names}. Look for each and delete what you find. Then run: ` +
        `MALOKO_SWEEP=1 MALOKO_FORGET_UNRESOLVED='${keys}' ${again}`
    );
}
