// Which part of the run the timeline shows.

export interface Range {
    /** Milliseconds since the run began. */
    from: number;
    to: number;
}

/** The least that is shown. */
const MIN_MS = 0.5;

/** A range that keeps within the run. */
export function within(range: Range, end: number): Range {
    const span = Math.min(Math.max(range.to - range.from, MIN_MS), end);
    const from = Math.min(Math.max(range.from, 0), end - span);
    return { from, to: from + span };
}

/** Shows more or less, about a moment that stays where it is. */
export function zoomRange(range: Range, factor: number, about: number, end: number): Range {
    const span = (range.to - range.from) * factor;
    const share = (about - range.from) / (range.to - range.from);
    return within({ from: about - share * span, to: about + (1 - share) * span }, end);
}

export function moveRange(range: Range, by: number, end: number): Range {
    return within({ from: range.from + by, to: range.to + by }, end);
}

/** A range in which something is seen with what is around it; the same one where it is seen already. */
export function rangeWith(range: Range, began: number, ended: number, end: number): Range {
    if (began >= range.from && ended <= range.to) return range;
    const span = Math.max(range.to - range.from, (ended - began) * 1.5);
    const middle = (began + ended) / 2;
    return within({ from: middle - span / 2, to: middle + span / 2 }, end);
}
