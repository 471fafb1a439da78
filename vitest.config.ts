import { defineConfig } from 'vitest/config';

/**
 * SSTKIT_TEST_SCALE (a number, default 1) multiplies the rounds of the property tests and of other
 * tests that gain by repetition; CI runs with 4. Such a test reads it as
 * `Number(process.env.SSTKIT_TEST_SCALE ?? 1)`.
 */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'dist/**'],
    pool: 'forks',
    // On two cores vitest alone would use one of them.
    maxWorkers: '100%',
    // A command writes to stdout by itself: vitest must not take console and stdout over.
    disableConsoleIntercept: true,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
