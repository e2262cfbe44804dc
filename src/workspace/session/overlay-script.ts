import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { enclosed, toolEnvironment } from '../isolation/index.ts'
import type { OverlayPlace } from './overlay-place.ts'

/** Answers may be long, but not without end. */
const MOST_OUTPUT_BYTES = 64 * 2 ** 20

/** Runs lines of a shell with an overlay mounted, as its owner; resolves with what they print. */
export async function inOverlay(place: OverlayPlace, lines: readonly string[]): Promise<string> {
  const script = ['set -e', ...place.lines(), 'exec sh -e'].join('\n')
  const [file = '', ...args] = enclosed(place.privilege, script)
  const running = promisify(execFile)(file, args, {
    cwd: place.directory,
    env: toolEnvironment,
    maxBuffer: MOST_OUTPUT_BYTES,
  })
  running.child.stdin?.end(lines.join('\n'))
  return (await running).stdout
}
