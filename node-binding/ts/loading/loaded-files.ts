// The files that a program is loaded from, for `maloko watch`.
import { writeFileSync as write } from "node:fs";
import Module from "node:module";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { apply, OwnSet } from "../originals";
import { OWN_DIRECTORY } from "../process/own-files";

// As it is now: programs may put their own in its place.
const writeFile = write;
const OWN_PACKAGE = path.dirname(OWN_DIRECTORY) + path.sep;

/** Notes which files this process loads from when it is made, and lists them in a file. */
export class LoadedFiles {
    readonly #files = new OwnSet<string>();
    readonly #told: MessagePort;
    /** Where the thread that reads ES modules tells their URLs. */
    readonly port: MessagePort;

    constructor(private readonly target: string) {
        const { port1, port2 } = new MessageChannel();
        this.#told = port1;
        this.port = port2;
        this.#followRequire();
    }

    // What is required, of whatever kind, is loaded by this method, also if it cannot be compiled.
    #followRequire(): void {
        const files = this.#files;
        const prototype = Module.prototype as unknown as { load(file: string): unknown };
        const { load } = prototype;
        prototype.load = function (this: unknown, file: string): unknown {
            files.add(file);
            return apply(load, this, [file]) as unknown;
        };
    }

    /** Lists them, with a zero byte between each two; none of this package. */
    list(): void {
        try {
            for (let it = receiveMessageOnPort(this.#told); it !== undefined; it = receiveMessageOnPort(this.#told)) {
                this.#files.add(fileURLToPath(it.message as string));
            }
            writeFile(this.target, [...this.#files].filter((file) => !file.startsWith(OWN_PACKAGE)).join("\0"));
        } catch {
            // Without the list, the files of earlier runs go on to count.
        }
    }
}
