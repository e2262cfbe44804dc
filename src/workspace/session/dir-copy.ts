import { execFile } from 'node:child_process'
import type { BigIntStats } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isWithin, VfsError } from '../../vfs/index.ts'
import { isTooDeep } from './entry-facts.ts'
import { factsOfName, hostNames } from './host-names.ts'
import { takeOver } from './staging.ts'

/** A tree as it was at one moment: what each directory held. The root is the empty path. */
export type TreeFacts = ReadonlyMap<string, ReadonlyMap<string, BigIntStats>>

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
  else await run(from, ['cp', ...copyOptions(), '--', `${from}/.`, to], signal)
  takeOver(from, to)
}

async function copyAround(
  from: string,
  to: string,
  left: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (left === from) return
  const [around = ''] = left.slice(from.length + 1).split('/')
  // By `find`, since any of the names may not be UTF-8, and no string of ours could hold it.
  const others = ['find', `${from}/.`, '-mindepth', '1', '-maxdepth', '1', '!', '-name', literally(around)]
  const copying = `exec cp ${copyOptions().join(' ')} -- "$@" "$0"`
  await run(from, [...others, '-exec', 'sh', '-c', copying, to, '{}', '+'], signal)
  const at = join(from, around)
  if (at !== left) await copyDirectory(at, join(to, around), left, signal)
}

/** A name as a pattern that nothing else matches. */
function literally(name: string): string {
  return name.replaceAll(/[\\*?[]/g, String.raw`\$&`)
}

async function run(from: string, words: readonly string[], signal: AbortSignal | undefined): Promise<void> {
  const [file = '', ...args] = words
  try {
    await promisify(execFile)(file, args, {
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
