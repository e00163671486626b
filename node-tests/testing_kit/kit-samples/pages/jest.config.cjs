module.exports = { testMatch: ["**/kit-samples/pages/pages.jest.cjs"], rootDir: "../..", testTimeout: 30_000 };
