// Widgets and repository labels over HTTP, as the examples' services serve them, in this process.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { World } from "maloko/vitest";
import type { Props } from "../support/kit";

type Answer = [status: number, body?: unknown];

/** A world that serves: begun and ended by the laws. */
abstract class Service implements World {
    readonly things = new Map<string, Props>();
    calls = 0;
    protected last = 0;
    protected url = "";
    #server: Server | undefined;

    protected abstract answer(method: string, path: string[], body: Props, key: string | undefined): Answer;

    get address(): string {
        return this.url;
    }

    objects() {
        return this.things;
    }

    reset(): void {
        this.things.clear();
    }

    async start(): Promise<void> {
        this.#server = createServer(async (request, response) => {
            this.calls++;
            let text = "";
            for await (const part of request) {
                text += part;
            }
            const path = (request.url ?? "").split("/").slice(1).map(decodeURIComponent);
            const key = request.headers["idempotency-key"] as string | undefined;
            const [status, body] = this.answer(request.method ?? "", path, text === "" ? {} : JSON.parse(text), key);
            response.writeHead(status, { "content-type": "application/json" });
            response.end(body === undefined ? undefined : JSON.stringify(body));
        });
        await new Promise<void>((resolve) => this.#server?.listen(0, "127.0.0.1", resolve));
        this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    }

    async stop(): Promise<void> {
        this.#server?.closeAllConnections();
        await new Promise((resolve) => this.#server?.close(resolve));
    }
}

/** Widgets by id. A POST that repeats an `Idempotency-Key` gets the widget that the first one made. */
export class Widgets extends Service {
    readonly #keys = new Map<string, string>();

    override async start(): Promise<void> {
        await super.start();
        process.env.WIDGETS_URL = this.url;
        process.env.WIDGETS_TOKEN = "demo-token";
    }

    mutateRemote(id: string): void {
        const widget = this.things.get(id);
        Object.assign(widget ?? {}, { size: widget?.size === "large" ? "small" : "large" });
    }

    protected answer(method: string, [, id = ""]: string[], { name, size }: Props, key?: string): Answer {
        if (method === "POST") {
            const known = this.#keys.get(key ?? "") ?? "";
            const made = this.things.has(known) ? known : `w-${++this.last}`;
            this.#keys.set(key ?? made, made);
            this.things.set(made, this.things.get(made) ?? { id: made, name, size, revision: 1 });
            return [201, this.things.get(made)];
        }
        const widget = this.things.get(id);
        if (widget === undefined) {
            return [404, { message: `there is no widget ${id}` }];
        }
        if (method === "DELETE") {
            this.things.delete(id);
            return [204];
        }
        if (method === "PUT") {
            Object.assign(widget, { name, size, revision: widget.revision + 1 });
        }
        return [200, widget];
    }
}

/** Labels of repositories: a name is there once in each of them. */
export class Labels extends Service {
    mutateRemote(id: string): void {
        const label = this.things.get(id);
        Object.assign(label ?? {}, { color: label?.color === "000000" ? "111111" : "000000" });
    }

    protected answer(method: string, [, owner, repo, , name = ""]: string[], body: Props): Answer {
        const repository = `${owner}/${repo}`;
        const find = (wanted: string) =>
            [...this.things.values()].find((it) => it.repository === repository && it.name === wanted);
        if (method === "POST") {
            if (find(body.name) !== undefined) {
                return [
                    422,
                    {
                        message: "Validation Failed",
                        errors: [{ resource: "Label", code: "already_exists", field: "name" }],
                    },
                ];
            }
            const id = 1000 + ++this.last;
            const { color, description = null } = body;
            const made = {
                id,
                repository,
                name: body.name,
                color,
                description,
                url: this.addressOf(repository, body.name),
            };
            this.things.set(String(id), made);
            return [201, made];
        }
        const label = find(name);
        if (label === undefined) {
            return [404, { message: "Not Found" }];
        }
        if (method === "DELETE") {
            this.things.delete(String(label.id));
            return [204];
        }
        if (method === "PATCH") {
            const { new_name = name, color = label.color, description = label.description } = body;
            Object.assign(label, { name: new_name, color, description, url: this.addressOf(repository, new_name) });
        }
        return [200, label];
    }

    private addressOf(repository: string, name: string): string {
        return `https://api.test/repos/${repository}/labels/${encodeURIComponent(name)}`;
    }
}
