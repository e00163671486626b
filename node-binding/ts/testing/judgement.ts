// What the engine's kit decides for both languages: the meaning of assertions, and their words.
import { loadAddon } from "../native";
import { parseJson, toJsonText } from "../originals";

/** Asks a question; engine-kit/src/judgement.rs has them with their answers. */
export function ask<Answer>(question: { ask: string } & Record<string, unknown>): Answer {
    return parseJson(loadAddon().kitAnswer(toJsonText(question))) as Answer;
}
