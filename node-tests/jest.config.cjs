// Beside tests of its own, the kit's tests: the same files as under vitest.
module.exports = {
    testMatch: ["**/*.jest.cjs", "<rootDir>/kit_{stack,faults,files}.test.ts"],
    testTimeout: 60_000,
    transform: { "\\.ts$": "<rootDir>/jest.transform.cjs" },
    moduleNameMapper: { "^maloko/vitest$": "maloko/jest", "^vitest$": "<rootDir>/jest.shim.cjs" },
};
