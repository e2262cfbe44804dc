import { spawnSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import type { ApplyStage } from './apply-stage.ts'
import type { HostTree } from './host-tree.ts'

const PRIVATE_DIRECTORY_MODE = 0o700
/** Name of the directory in a stage that holds second names of files. */
const HELD_NAME = 'attributes'
/** Number of files for one `cp`. */
const BATCH_SIZE = 200
const COPY_OPTIONS = ['--attributes-only', '--preserve=mode,xattr', '--'] as const

/**
 * Gives files in `new` of a stage, by their index, the extended attributes and access lists of the files of a directory
 * that they are to replace: as far as the system and this user can. Node knows neither, so `cp` does it.
 */
export function keepAttributes(
  tree: HostTree,
  stage: ApplyStage,
  files: readonly { readonly index: number; readonly path: string }[],
): void {
  if (files.length === 0 || process.platform !== 'linux') return
  const held = `${stage.path}/${HELD_NAME}`
  mkdirSync(held, PRIVATE_DIRECTORY_MODE)
  // A second name says which file it is for, and follows no link that somebody puts in the place.
  const sources = files.filter(({ index, path }) => tryHold(tree, path, `${held}/${index}`))
  for (let start = 0; start < sources.length; start += BATCH_SIZE) {
    const some = sources.slice(start, start + BATCH_SIZE).map(({ index }) => `${HELD_NAME}/${index}`)
    // The new process is in the stage before descriptors of this one are closed to it.
    spawnSync('cp', [...COPY_OPTIONS, ...some, 'new'], {
      cwd: stage.path,
      env: { PATH: '/usr/bin:/bin' },
      stdio: 'ignore',
    })
  }
  rmSync(held, { recursive: true })
}

function tryHold(tree: HostTree, path: string, held: string): boolean {
  try {
    tree.withDentry(path, ({ directory, name }) => linkSync(directory.at(name), held))
    // Of a link, `cp` would take the attributes of what it leads to.
    return lstatSync(held).isFile()
  } catch {
    // No disk for it, or the file of another: it gets none, and whatever else is wrong comes up when it is replaced.
    return false
  }
}
