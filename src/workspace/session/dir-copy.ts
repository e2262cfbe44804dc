import { execFile } from 'node:child_process'
import type { BigIntStats } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isWithin, VfsError } from '../../vfs/index.ts'
import { isTooDeep } from './entry-facts.ts'
import { factsOfName, hostNames } from './host-names.ts'
import { takeOver } from './staging.ts'

/** A tree as it was at one moment: what each directory held. The root is the empty path. */
export type TreeFacts = ReadonlyMap<string, ReadonlyMap<string, BigIntStats>>

/** Paths that one `cp` is given. */
const PATHS_AT_ONCE = 200
/** What `cp` may say before it is ended: by then everybody knows. */
const MOST_COMPLAINT_BYTES = 2 ** 20

/**
 * Copies a directory, sharing content with it where the disk can. Files with several names become separate files, as
 * in an overlay. O(files). `left` is not copied: the place of the copy itself may be in there. EIO for what cannot be
 * read.
 */
export async function copyDirectory(
  from: string,
  to: string,
  left: string,
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(to)
  if (isWithin(left, from)) await copyAround(from, to, left, signal)
  // Without a list of names, of which any may not be UTF-8.
  else await copy(from, [`${from}/.`, to], signal)
  takeOver(from, to)
}

async function copyAround(
  from: string,
  to: string,
  left: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const names = await readdir(from)
  const whole = names.filter((name) => !isWithin(left, join(from, name)))
  for (let start = 0; start < whole.length; start += PATHS_AT_ONCE) {
    const paths = whole.slice(start, start + PATHS_AT_ONCE).map((name) => join(from, name))
    await copy(from, [...paths, to], signal)
  }
  const around = names.find((name) => !whole.includes(name))
  if (around !== undefined && join(from, around) !== left) {
    await copyDirectory(join(from, around), join(to, around), left, signal)
  }
}

async function copy(from: string, paths: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  try {
    await promisify(execFile)('cp', [...copyOptions(), '--', ...paths], {
      env: { PATH: '/usr/bin:/bin' },
      maxBuffer: MOST_COMPLAINT_BYTES,
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    signal?.throwIfAborted()
    throw notCopied(from, error)
  }
}

/** There may be as many complaints as files: the first one tells what is wrong. */
function notCopied(from: string, error: unknown): VfsError {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const [first = '', ...others] = said.split('\n')
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  const why = first === '' ? String(error) : `${first.replace(/^cp: /, '')}${more}`
  const detail = `${from} cannot be copied for the command: ${why}`
  return new VfsError('EIO', from, { op: 'session', detail, cause: error })
}

function copyOptions(): string[] {
  return process.platform === 'linux'
    ? ['-a', '--no-preserve=links', '--reflink=auto']
    : // Clones where the disk can, on macOS.
      ['-c', '-R', '-p']
}

/** What a tree holds now. O(files). */
export async function treeFacts(root: string): Promise<TreeFacts> {
  const tree = new Map<string, Map<string, BigIntStats>>()
  const pending = ['']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const entries = new Map<string, BigIntStats>()
    for (const name of hostNames(join(root, path))) {
      if (isTooDeep(join(root, path, name.name))) continue
      const facts = factsOfName(join(root, path), name)
      if (facts === undefined) continue
      entries.set(name.name, facts)
      if (facts.isDirectory() && name.raw === undefined) pending.push(`${path}/${name.name}`)
    }
    tree.set(path, entries)
  }
  return tree
}
