// What tests on a real cloud have made, on disk: a test that is killed is tidied up by its next run, or by a sweep.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { parseJson, toJsonText } from "../process/originals";

interface Page {
    version: 1;
    /** Whose it is, for people. */
    test: string;
    file: string;
    /** The stack's state, encrypted: it holds secrets. */
    state: string;
}

const FOLDER = path.join(".maloko", "tests");
const CIPHER = "aes-256-gcm";
const KEY_LENGTH = 32;
const NONCE_LENGTH = 12;
const TAG_LENGTH = 16;

/** The page of one stack of one test. */
export class Ledger {
    readonly #file: string;
    readonly #folder: string;
    readonly #test: string;
    readonly #source: string;
    #last: string | undefined;

    /** `ordinal`: which of the test's stacks it is. `directory`: where tests are run, which has the folder `.maloko`. */
    constructor(test: string, source: string, ordinal: number, directory: string) {
        this.#folder = path.join(directory, FOLDER);
        this.#test = test;
        this.#source = path.relative(directory, source);
        const name = createHash("sha256").update(`${this.#source}\0${test}\0${ordinal}`).digest("hex").slice(0, 16);
        this.#file = path.join(this.#folder, `${name}.json`);
    }

    /** Where it stands, for messages. */
    get file(): string {
        return this.#file;
    }

    /** Writes a stack's state down, for as long as there is anything in it. */
    write(state: string): void {
        if (state === this.#last) {
            return;
        }
        const page: Page = { version: 1, test: this.#test, file: this.#source, state: this.#encrypt(state) };
        const beside = `${this.#file}.${process.pid}`;
        fs.writeFileSync(beside, `${toJsonText(page)}\n`, { mode: 0o600, flush: true });
        fs.renameSync(beside, this.#file);
        this.#last = state;
    }

    /**
     * Hands the state that an earlier run has left to `take`; undefined when it left none. Throws an error that says what is
     * wrong.
     */
    read<T>(take: (state: string) => T): { taken: T } | undefined {
        if (!fs.existsSync(this.#file)) {
            return undefined;
        }
        try {
            const page = parseJson(fs.readFileSync(this.#file, "utf8")) as Partial<Page>;
            if (page.version !== 1 || page.state === undefined) {
                throw new Error("it is of another version");
            }
            return { taken: take(this.#decrypt(page.state)) };
        } catch (error) {
            throw new Error(
                `what an earlier run of this test made is in ${this.#file}, which cannot be read: ${(error as Error).message}. ` +
                    "Look for its objects by hand, and remove the file",
                { cause: error },
            );
        }
    }

    /** The pages of all stacks of the same test that are there; one that cannot be read is nobody's. */
    siblings(): string[] {
        const names = fs.existsSync(this.#folder) ? fs.readdirSync(this.#folder) : [];
        const files = names.filter((name) => name.endsWith(".json")).map((name) => path.join(this.#folder, name));
        return files.sort().filter((file) => {
            try {
                const page = parseJson(fs.readFileSync(file, "utf8")) as Partial<Page>;
                return page.test === this.#test && page.file === this.#source;
            } catch {
                return false;
            }
        });
    }

    /** Nothing is left. */
    remove(): void {
        fs.rmSync(this.#file, { force: true });
        this.#last = undefined;
    }

    #key(): Buffer {
        const file = path.join(this.#folder, "key");
        if (!fs.existsSync(file)) {
            fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
            fs.writeFileSync(path.join(this.#folder, ".gitignore"), "*\n");
            try {
                fs.writeFileSync(file, randomBytes(KEY_LENGTH), { mode: 0o600, flag: "wx" });
            } catch (error) {
                // Another test was quicker.
                if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
                    throw error;
                }
            }
        }
        return fs.readFileSync(file);
    }

    #encrypt(text: string): string {
        const nonce = randomBytes(NONCE_LENGTH);
        const cipher = createCipheriv(CIPHER, this.#key(), nonce);
        const content = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
        return Buffer.concat([nonce, cipher.getAuthTag(), content]).toString("base64");
    }

    #decrypt(text: string): string {
        const bytes = Buffer.from(text, "base64");
        const decipher = createDecipheriv(CIPHER, this.#key(), bytes.subarray(0, NONCE_LENGTH));
        decipher.setAuthTag(bytes.subarray(NONCE_LENGTH, NONCE_LENGTH + TAG_LENGTH));
        const content = decipher.update(bytes.subarray(NONCE_LENGTH + TAG_LENGTH));
        return Buffer.concat([content, decipher.final()]).toString("utf8");
    }
}
