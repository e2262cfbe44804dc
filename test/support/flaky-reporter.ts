import type { Reporter, TestModule } from 'vitest/node'

/** Lines of an error that are printed. */
const MAX_LINES = 12

/**
 * Names the tests that passed only when they were tried again, with the error of the first try: each of them is a fault,
 * of the test or of the code.
 */
export class FlakyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (!test.diagnostic()?.flaky) continue
        console.warn(`passed on the second try: ${module.relativeModuleId} > ${test.fullName}`)
        for (const { message, diff = '' } of test.result().errors ?? [])
          console.warn(`${message}\n${diff}`.split('\n').slice(0, MAX_LINES).join('\n'))
      }
    }
  }
}
