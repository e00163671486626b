// What is too long for every change: `make nightly` has it (MALOKO_LONG).

/** Is it the night, which has all of everything? */
export const NIGHT = Boolean(process.env.MALOKO_LONG);

/** This function of tests at night, and else one that makes none of them. */
export function atNight<Test extends CallableFunction>(test: Test): Test {
    const none = () => none;
    return NIGHT ? test : (Object.assign(none, { each: none, for: none, runIf: none }) as unknown as Test);
}

/** All rows of a table at night, and else those for every change. */
export function byDay<Row>(rows: readonly Row[], day: (row: Row, place: number) => boolean): Row[] {
    return NIGHT ? [...rows] : rows.filter(day);
}
