// How payloads travel to the server: large ones compressed, all of them encrypted where the fleet has a key.
// `maloko/fleet/_codec.py` writes and reads the same bytes.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import * as path from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import type { DataConverter, Payload, PayloadCodec } from "@temporalio/common";
import { FleetError, UnreadableError } from "./ends";
import { temporal } from "./packages";

/** Holds the key: 32 bytes in base64, the same for all workers and commands of a fleet. */
export const VARIABLE = "MALOKO_FLEET_KEY";

const ENCODING = "encoding";
const COMPRESSED = "binary/maloko-zlib";
const ENCRYPTED = "binary/maloko-aes256gcm";
const CIPHER = "aes-256-gcm";
/** Bytes up to which a payload stays as it is, so that the server's page shows it. */
const SMALL = 1024;
const KEY_SIZE = 32;
const NONCE_SIZE = 12;
const TAG_SIZE = 16;

/** What is read of a payload that is encrypted with another key: `null`. */
const UNREAD: Payload = { metadata: { [ENCODING]: Buffer.from("json/plain") }, data: Buffer.from("null") };

/** How a payload is written as bytes. */
interface Message {
    encode(payload: Payload): { finish(): Uint8Array };
    decode(bytes: Uint8Array): Payload;
}

/** Compresses what is large and, with a key, encrypts everything. */
export class FleetCodec implements PayloadCodec {
    readonly #message = messageOfPayloads();

    constructor(private readonly key: Buffer | undefined) {}

    async encode(payloads: Payload[]): Promise<Payload[]> {
        return payloads.map((payload) => this.#encoded(payload));
    }

    async decode(payloads: Payload[]): Promise<Payload[]> {
        return payloads.map((payload) => this.#decoded(payload));
    }

    #encoded(given: Payload): Payload {
        let payload = given;
        let bytes = this.#message.encode(payload).finish();
        if (bytes.length > SMALL) {
            payload = encodedAs(COMPRESSED, deflateSync(bytes));
            bytes = this.#message.encode(payload).finish();
        }
        if (this.key === undefined) {
            return payload;
        }
        const nonce = randomBytes(NONCE_SIZE);
        const cipher = createCipheriv(CIPHER, this.key, nonce);
        return encodedAs(ENCRYPTED, Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]));
    }

    #decoded(given: Payload): Payload {
        let payload = given;
        if (encodingOf(payload) === ENCRYPTED) {
            payload = this.#message.decode(this.#opened(Buffer.from(payload.data ?? [])));
        }
        if (encodingOf(payload) === COMPRESSED) {
            payload = this.#message.decode(inflateSync(payload.data ?? new Uint8Array()));
        }
        return payload;
    }

    #opened(data: Buffer): Buffer {
        if (this.key === undefined) {
            throw new UnreadableError(`, and ${VARIABLE} is not set: set it to the key that the run was begun with`);
        }
        try {
            const decipher = createDecipheriv(CIPHER, this.key, data.subarray(0, NONCE_SIZE));
            decipher.setAuthTag(data.subarray(-TAG_SIZE));
            return Buffer.concat([decipher.update(data.subarray(NONCE_SIZE, -TAG_SIZE)), decipher.final()]);
        } catch {
            throw new UnreadableError(
                ` with another key than that in ${VARIABLE}: set it to the key that the run was begun with`,
            );
        }
    }
}

function encodedAs(encoding: string, data: Uint8Array): Payload {
    return { metadata: { [ENCODING]: Buffer.from(encoding) }, data };
}

function encodingOf({ metadata }: Payload): string {
    return Buffer.from(metadata?.[ENCODING] ?? []).toString();
}

// Reads what it can.
class LenientCodec extends FleetCodec {
    override async decode(payloads: Payload[]): Promise<Payload[]> {
        return Promise.all(payloads.map((payload) => this.#one(payload)));
    }

    async #one(payload: Payload): Promise<Payload> {
        try {
            const [read] = await super.decode([payload]);
            return read ?? UNREAD;
        } catch (error) {
            if (error instanceof UnreadableError) {
                return UNREAD;
            }
            throw error;
        }
    }
}

// The client's own: it is a dependency of its package, and so need not be one of the user's project.
function messageOfPayloads(): Message {
    temporal("common");
    const beside = createRequire(require.resolve("@temporalio/common"));
    const { temporal: protocol } = beside("@temporalio/proto") as {
        temporal: { api: { common: { v1: { Payload: Message } } } };
    };
    return protocol.api.common.v1.Payload;
}

/** The key of the environment; undefined where there is none. Throws a `FleetError` when it is no key. */
export function fleetKey(): Buffer | undefined {
    const text = process.env[VARIABLE] ?? "";
    if (text === "") {
        return undefined;
    }
    const key = Buffer.from(text, "base64");
    if (key.length !== KEY_SIZE || key.toString("base64") !== text) {
        throw new FleetError(
            `${VARIABLE} is no key: it has to be ${KEY_SIZE} bytes in base64, such as \`openssl rand -base64 32\` writes`,
        );
    }
    return key;
}

/** What converts records about runs, of which what is encrypted with another key is read as `null`. */
export function lenientConverter(): DataConverter {
    return { payloadCodecs: [new LenientCodec(fleetKey())] };
}

/** What clients and workers of fleets convert with. */
export function dataConverter(): DataConverter {
    const key = fleetKey();
    const payloadCodecs = [new FleetCodec(key)];
    return key === undefined
        ? { payloadCodecs }
        : { payloadCodecs, failureConverterPath: path.join(__dirname, "encoded-failures.js") };
}
