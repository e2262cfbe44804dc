import { defineConfig, type ViteUserConfig } from 'vitest/config'

/** The tests of test/torture in their long form: the same code, with larger counts. */
const config: ViteUserConfig = defineConfig({
  ssr: { resolve: { conditions: ['coppice-source'] } },
  test: {
    testTimeout: 600_000,
    include: ['test/torture/**/*.test.ts'],
    env: { COPPICE_TORTURE: 'long' },
    reporters: ['verbose'],
  },
})

export default config
