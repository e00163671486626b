// Tests that are too long for every change: `make nightly` has them (MALOKO_LONG).

/** This function of tests at night, and else one that makes none of them. */
export function atNight<Test extends CallableFunction>(test: Test): Test {
    return process.env.MALOKO_LONG ? test : ((() => {}) as unknown as Test);
}
