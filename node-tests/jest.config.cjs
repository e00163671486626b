module.exports = { testMatch: ["**/*.jest.cjs"], testTimeout: 60_000 };
