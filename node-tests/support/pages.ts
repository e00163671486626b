// What pages show: the data in their files.

const DATA = /<script type="application\/json" id="maloko-data">(.*?)<\/script>/gs;

export interface Shown {
    format: number;
    project: string;
    stack: string;
    resources: any[];
    outputs: Record<string, unknown>;
    run: any;
    history: { version: number }[];
    unresolvedCreates: any[];
}

/** What a page shows. */
export function dataOf(page: string): Shown {
    const found = [...page.matchAll(DATA)].map(([, text]) => text ?? "");
    if (found.length !== 1) {
        throw new Error(`a page has its data once, not ${found.length} times`);
    }
    return JSON.parse(found[0] ?? "");
}
