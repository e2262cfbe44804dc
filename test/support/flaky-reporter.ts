import type { Reporter, TestModule } from 'vitest/node'

/** Names the tests that passed only when they were tried again: each of them is a fault, of the test or of the code. */
export class FlakyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules) {
      for (const test of module.children.allTests('passed')) {
        if (test.diagnostic()?.flaky)
          console.warn(`passed on the second try: ${module.relativeModuleId} > ${test.fullName}`)
      }
    }
  }
}
