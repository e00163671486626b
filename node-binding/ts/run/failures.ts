// How failed calls are told to the engine.
import type { CallFailure } from "../../native";
import { toJsonText } from "../originals";
import { damage } from "../process/damage";

/** A failed call as the engine reads it. */
export function failureText(failure: CallFailure): string {
    // Half of a surrogate pair is no text that anybody else can read.
    return toJsonText(failure, (_key, value: unknown) => (typeof value === "string" ? value.toWellFormed() : value));
}

/** An error that cannot even be described. What the method did before it is not known. */
export function unspeakable(): string {
    return withoutJson("badReturn", "the call failed with an error that cannot be read");
}

/** A call that will never end, because everything that it awaits is taken for a promise. */
export function endless(): string {
    const reason =
        "the call can never end: Object.prototype or Array.prototype has a member then, so that whatever is awaited is taken for a promise";
    return withoutJson("badReturn", reason);
}

// What makes JSON may be what was changed.
function withoutJson(kind: CallFailure["kind"], reason: string): string {
    const names = damage();
    const why = names === "" ? "" : `; code of the process has changed what all code in it needs: ${plain(names)}`;
    return `{"kind":"${kind}","traceback":"","message":"${reason}${why}"}`;
}

// Some of the names are what the program likes.
function plain(text: string): string {
    let letters = "";
    for (let index = 0; index < text.length; index++) {
        const letter = text[index] as string;
        letters += letter < " " || letter > "~" || letter === '"' || letter === "\\" ? "?" : letter;
    }
    return letters;
}
