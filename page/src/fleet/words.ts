// What the page of a fleet's run calls things.

import { duration } from "../model/words.ts";
import type { FleetData, Standing } from "./data.ts";

/** What is worth a look comes first. */
export const STANDINGS: Standing[] = [
    "failed",
    "retrying",
    "running",
    "skipped",
    "cancelled",
    "waiting",
    "done",
    "unchanged",
];

/** The order of the bar: from what is over to what is still to come. */
export const BAR: Standing[] = [
    "done",
    "unchanged",
    "failed",
    "skipped",
    "cancelled",
    "retrying",
    "running",
    "waiting",
];

const SIGNS: { [name in Standing]: [sign: string, tone: string] } = {
    done: ["✓", "add"],
    unchanged: ["=", "same"],
    failed: ["!", "failed"],
    skipped: ["»", "change"],
    cancelled: ["×", "change"],
    retrying: ["↻", "change"],
    running: ["›", "read"],
    waiting: ["·", "same"],
};

/** The sign of where a stack stands, beside its word. */
export function signOf(standing: Standing): string {
    return SIGNS[standing][0];
}

/** The colour family; never the only sign. */
export function toneOf(standing: Standing): string {
    return SIGNS[standing][1];
}

/** How the run stands, in words: `up failed`, `up is paused`. */
export function runWords({ verb, state, outcome }: FleetData): string {
    if (state !== "ended") return `${verb} is ${state}`;
    return outcome === "done"
        ? `${verb} is done`
        : outcome === "cancelled"
          ? `${verb} was cancelled`
          : `${verb} failed`;
}

/** Stacks that were worked on to their end in a minute, and the seconds that are left as it goes; nothing where nobody can say. */
export function paceOf(data: FleetData): { perMinute?: number; left?: number } {
    const { counts, seconds, state } = data;
    const ended = counts.done + counts.unchanged + counts.failed;
    if (ended === 0 || seconds < 1) return {};
    const perMinute = (ended * 60) / seconds;
    const open = counts.running + counts.retrying + counts.waiting;
    if (state !== "running" || open === 0) return { perMinute };
    return { perMinute, left: (open * 60) / perMinute };
}

const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const coarse = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** `528 a minute`, `0.4 a minute`. */
export function rateWords(perMinute: number): string {
    return `${(perMinute < 10 ? fine : coarse).format(perMinute)} a minute`;
}

/** Seconds as `41 s`. */
export function secondsWords(seconds: number): string {
    return duration(seconds * 1000);
}

/** Seconds since 1970 as RFC 3339. */
export function timeOf(seconds: number): string {
    const at = new Date(seconds * 1000);
    return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString();
}

export function firstLine(text: string): string {
    return text.split("\n", 1)[0] as string;
}
