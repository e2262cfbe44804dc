import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { coppice, withHome } from '../../exec/coppice-program.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureConnect } from '../connect.ts'

/** The program as it is built, in a small directory of which it makes a fork. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const cwd = join(settings.directory, 'connected')
  mkdirSync(cwd, { recursive: true })
  const [, ...args] = coppice([], 'mcp')
  await measureConnect(recorder, { args, cwd, env: withHome(settings, 'connected-home') })
}
