// The texts by which Pulumi's wire format and state mark values that JSON has no word for.

/** The member of an object that says what it stands for. */
export const SIGNATURE_KEY = "4dabf18193072939515e22adb298388d";
/** A secret: its value is in `value`, or as JSON text in `plaintext`. */
export const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";
/** Does an object stand for a secret? */
export function isSecret(value: object): boolean {
    return (value as Record<string, unknown>)[SIGNATURE_KEY] === SECRET_SIGNATURE;
}

/** A text in the place of a value that is not known yet, of any kind. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
