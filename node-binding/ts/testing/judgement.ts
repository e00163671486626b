// What the engine's kit decides for both languages: the meaning of assertions, the forms of files, and their words.
import { loadAddon } from "../native";
import { parseJson, toJsonText } from "../originals";

/** Asks a question; engine-kit/src/judgement.rs has them with their answers. Throws for one that is refused. */
export function ask<Answer>(question: { ask: string } & Record<string, unknown>): Answer {
    const answer = parseJson(loadAddon().kitAnswer(toJsonText(question))) as Answer & { error?: string };
    if (answer?.error !== undefined && Object.keys(answer).length === 1) {
        throw new Error(answer.error);
    }
    return answer;
}
