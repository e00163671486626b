// The members of plain data.

/** A list or object of the same form with other members. */
export function mapMembers(value: object, change: (member: unknown, key: string) => unknown): unknown {
    return Array.isArray(value)
        ? value.map((item, index) => change(item, String(index)))
        : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member, key)]));
}
