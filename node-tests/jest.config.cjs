// Tests of what can differ under jest: its modules, realm, matchers, equality and reporters. Beside them, files of the kit as under
// vitest: what is compared, written and shown; with MALOKO_LONG=1 (`make nightly`) those that call the engine as well.
const shared = process.env.MALOKO_LONG ? "kit_{stack,faults,files}" : "kit_files";

module.exports = {
    testMatch: ["<rootDir>/*/*.jest.cjs", `<rootDir>/testing_kit/${shared}.test.ts`],
    testTimeout: 300_000,
    transform: { "\\.ts$": "<rootDir>/jest.transform.cjs" },
    moduleNameMapper: { "^maloko/vitest$": "maloko/jest", "^vitest$": "<rootDir>/jest.shim.cjs" },
};
