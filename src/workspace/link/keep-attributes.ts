import { spawnSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import type { ApplyStage } from './apply-stage.ts'
import type { HostTree } from './host-tree.ts'

const PRIVATE_DIRECTORY_MODE = 0o700
/** Name of the directory in a stage that holds second names of files. */
const HELD_NAME = 'attributes'
const COPY_ATTRIBUTES = ['-R', '--attributes-only', '--preserve=mode,xattr', '--', `${HELD_NAME}/.`, 'new']

/**
 * Creates empty new files in a stage with the extended attributes and access lists of the files that they replace, as
 * far as the system permits. Node supports neither, so `cp` copies them. Returns the indexes of files that may exist
 * now.
 */
export function keepAttributes(
  tree: HostTree,
  stage: ApplyStage,
  files: readonly { readonly index: number; readonly path: string }[],
): ReadonlySet<number> {
  if (files.length === 0 || process.platform !== 'linux') return new Set()
  const held = `${stage.path}/${HELD_NAME}`
  mkdirSync(held, PRIVATE_DIRECTORY_MODE)
  // The hard link carries the index, and `cp` through it follows no link that another process puts in place.
  const sources = files.filter(({ index, path }) => tryHold(tree, path, `${held}/${index}`))
  // The child enters the stage before descriptors of this process are closed to it.
  if (sources.length > 0)
    spawnSync('cp', COPY_ATTRIBUTES, { cwd: stage.path, env: { PATH: '/usr/bin:/bin' }, stdio: 'ignore' })
  rmSync(held, { recursive: true })
  return new Set(sources.map(({ index }) => index))
}

function tryHold(tree: HostTree, path: string, held: string): boolean {
  try {
    tree.withDentry(path, ({ directory, name }) => linkSync(directory.at(name), held))
    if (lstatSync(held).isFile()) return true
    // `cp` would copy a link.
    rmSync(held)
  } catch {
    // The disk has no hard links, or the file belongs to another user: no attributes are copied. Other errors appear
    // when the file is replaced.
  }
  return false
}
