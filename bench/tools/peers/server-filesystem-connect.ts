import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureConnect } from '../connect.ts'

const MODULE = '@modelcontextprotocol/server-filesystem/dist/index.js'

/** The official file server on an empty directory. */
export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  const args = [fileURLToPath(import.meta.resolve(MODULE)), directory]
  await measureConnect(recorder, { args, cwd: directory, env: process.env })
}
