import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The tests that take minutes first, so that they do not run alone when all others are done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/test/torture/')
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}

const config: ViteUserConfig = defineConfig({
  // The package's own name leads to its source, so that no test runs on a stale build.
  ssr: { resolve: { conditions: ['coppice-source'] } },
  test: {
    // Some tests start Node itself, and hooks remove whole trees, on a machine and a disk that may be busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By default one core is left idle: of two, that is half the machine.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary'],
    },
  },
})

export default config
