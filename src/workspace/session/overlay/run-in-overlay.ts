import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createNamespaceArgs, isolationEnvironment } from '../../isolation/index.ts'
import type { OverlayLayout } from './overlay-layout.ts'

/** Limit of the output. */
const MAX_OUTPUT_BYTES = 64 * 2 ** 20

/** Runs shell lines with an overlay mounted, as its owner; resolves with their output. */
export async function runInOverlay(layout: OverlayLayout, lines: readonly string[]): Promise<string> {
  const script = ['set -e', ...layout.createMountLines(), 'exec sh -e'].join('\n')
  const [file = '', ...args] = createNamespaceArgs(layout.privilege, script)
  const running = promisify(execFile)(file, args, {
    cwd: layout.directory,
    env: isolationEnvironment,
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  running.child.stdin?.end(lines.join('\n'))
  return (await running).stdout
}
