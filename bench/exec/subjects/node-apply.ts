import { fileURLToPath } from 'node:url'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureReplacing } from '../replaced-files.ts'

const PROGRAM = fileURLToPath(new URL('../replace-files.ts', import.meta.url))

/** Processor time of a plain program of Node that replaces the same files so that a kill can be undone. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const node = process.execPath
  recorder.note('apply', measureReplacing('node', [node, PROGRAM], [node, '-e', '0'], settings))
}
