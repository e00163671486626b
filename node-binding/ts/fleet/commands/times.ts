// Times as the commands of both languages write them.

const UNITS: [name: string, seconds: number][] = [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
];

/** A moment, to the second. */
export function instant(date: Date): string {
    return `${date.toISOString().slice(0, 19)}+00:00`;
}

/** A number of seconds in the largest unit that it is a whole number of, such as `6h`. */
export function period(seconds: number): string {
    const [name, size] = UNITS.find(([, unit]) => seconds % unit === 0) ?? ["s", 1];
    return `${seconds / size}${name}`;
}
