import type { EngineName } from '../../src/backends/vault/index.ts'

/** Values of `--engine`; the default first. Not `memory`, which a second process cannot open. */
export const engines: readonly [EngineName, ...EngineName[]] = ['sqlite', 'lmdb', 'level']
