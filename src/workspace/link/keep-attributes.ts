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
 * Copies extended attributes and access lists to new files in a stage from the files that they replace, as far as the
 * system permits. Node supports neither, so `cp` copies them.
 */
export function keepAttributes(
  tree: HostTree,
  stage: ApplyStage,
  files: readonly { readonly index: number; readonly path: string }[],
): void {
  if (files.length === 0 || process.platform !== 'linux') return
  const held = `${stage.path}/${HELD_NAME}`
  mkdirSync(held, PRIVATE_DIRECTORY_MODE)
  // The hard link carries the index, and `cp` through it follows no link that another process puts in place.
  const sources = files.filter(({ index, path }) => tryHold(tree, path, `${held}/${index}`))
  for (let start = 0; start < sources.length; start += BATCH_SIZE) {
    const some = sources.slice(start, start + BATCH_SIZE).map(({ index }) => `${HELD_NAME}/${index}`)
    // The child enters the stage before descriptors of this process are closed to it.
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
    // `cp` would copy the attributes of a link's target.
    return lstatSync(held).isFile()
  } catch {
    // The disk has no hard links, or the file belongs to another user: no attributes are copied. Other errors appear
    // when the file is replaced.
    return false
  }
}
