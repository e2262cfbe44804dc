import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import { measurePrograms } from './programs.ts'

const WORKS = ['tar', 'clone', 'install', 'copy', 'grep', 'find', 'read', 'remove']

/**
 * A peer of the system: `argumentsOf` tells what it is called with, given directories of its own and the mount point.
 */
export async function measurePeer(
  program: string,
  argumentsOf: (place: (name: string) => string, mountPoint: string) => readonly string[],
  recorder: Recorder,
  settings: Settings,
): Promise<void> {
  const scratch = mkdtempSync(join(settings.directory, 'peer-'))
  const place = (name: string) => {
    mkdirSync(join(scratch, name), { recursive: true })
    return join(scratch, name)
  }
  const mountPoint = place('mount')
  const { status } = spawnSync(program, argumentsOf(place, mountPoint), { stdio: 'ignore' })
  if (status !== 0) {
    for (const work of WORKS) recorder.skip(work, 'not there')
    return
  }
  try {
    await measurePrograms(mountPoint, recorder, settings)
  } finally {
    spawnSync('umount', ['-l', mountPoint])
  }
}
