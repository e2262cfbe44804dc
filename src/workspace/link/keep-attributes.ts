import { spawnSync } from 'node:child_process'
import type { ApplyStage } from './apply-stage.ts'

const COPY_ATTRIBUTES = ['-R', '--attributes-only', '--preserve=mode,xattr', '--', 'old/.', 'new']

/**
 * Creates empty new files in a stage with the extended attributes and access lists of the old files there, as far as
 * the system permits. Node supports neither, so `cp` copies them. Returns the indexes of files that may exist now.
 */
export function keepAttributes(stage: ApplyStage): ReadonlySet<number> {
  const indexes = new Set(stage.backups.keys())
  if (indexes.size === 0 || process.platform !== 'linux') return new Set()
  // The child enters the stage before descriptors of this process are closed to it.
  spawnSync('cp', COPY_ATTRIBUTES, { cwd: stage.path, env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' })
  return indexes
}
