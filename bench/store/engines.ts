import type { HomeOptions } from '../../src/backends/vault/index.ts'

type EngineName = NonNullable<HomeOptions['engine']>

/** What `--engine` may name; the default first. */
export const engines: readonly [EngineName, ...EngineName[]] = ['sqlite', 'lmdb']
