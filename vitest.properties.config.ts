import { globSync, readFileSync } from 'node:fs'
import { defineConfig, type ViteUserConfig } from 'vitest/config'

/** How many times as many cases every property is tried with: what five hundred do not find, ten thousand may. */
const TIMES = Number(process.env['TIMES'] ?? 20)
const RUNS = /\bnumRuns: (\d+)/g

/** The tests that have properties, with more cases and nothing else changed. */
const config: ViteUserConfig = defineConfig({
  ssr: { resolve: { conditions: ['coppice-source'] } },
  plugins: [
    {
      name: 'many-cases',
      transform: (code: string, id: string): string | null =>
        id.includes('/node_modules/')
          ? null
          : code.replaceAll(RUNS, (_, runs: string) => `numRuns: ${Number(runs) * TIMES}`),
    },
  ],
  test: {
    testTimeout: 60 * 60 * 1000,
    maxWorkers: '100%',
    include: globSync('{src,test}/**/*.test.ts').filter((file) =>
      readFileSync(file, 'utf8').includes('numRuns'),
    ),
  },
})

export default config
