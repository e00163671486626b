// What pages show: the data in their files, and what a live one sends.
import { type IncomingMessage, request } from "node:http";

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

/** A page that follows a run. */
export class Live {
    readonly place: URL;

    /** From what a command said. */
    constructor(said: string) {
        this.place = new URL(/Follow the run at (http:\S+)/.exec(said)?.[1] ?? "");
    }

    ask(
        path: string,
        {
            method = "GET",
            token,
            ...headers
        }: { method?: string; token?: string; [header: string]: string | undefined } = {},
    ): Promise<IncomingMessage> {
        const url = new URL(path, this.place);
        url.searchParams.set("token", token ?? this.place.searchParams.get("token") ?? "");
        return new Promise((resolve, reject) => {
            request(url, { method, headers, agent: false }, resolve).on("error", reject).end();
        });
    }

    /** The status of the answer, whose body is left. */
    async status(path: string, options: Parameters<Live["ask"]>[1] = {}): Promise<number | undefined> {
        const answer = await this.ask(path, options);
        answer.destroy();
        return answer.statusCode;
    }

    /** The name and the data of each event, until the run ends. */
    async *events(): AsyncGenerator<[name: string, data: string]> {
        const answer = await this.ask("/events");
        let rest = "";
        for await (const part of answer.setEncoding("utf8") as AsyncIterable<string>) {
            const messages = (rest + part).split("\n\n");
            rest = messages.pop() ?? "";
            for (const message of messages) {
                const [, name = "", data = ""] = /^event: (.*)\ndata: (.*)$/.exec(message) ?? [];
                yield [name, data];
            }
        }
    }
}
