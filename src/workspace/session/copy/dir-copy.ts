import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isWithin, VfsError } from '../../../vfs/index.ts'
import { type ComparedStats, isTooDeep } from '../entries/entry-stats.ts'
import { findStatsByName, listHostNames } from '../entries/host-names.ts'
import { copyAttributesSync } from '../entries/staging.ts'

/** Stats of all entries of a tree, by directory and name. The root is the empty path. */
export type TreeStats = ReadonlyMap<string, ReadonlyMap<string, ComparedStats>>

/** Limit in bytes of the error output of `cp`. */
const MAX_STDERR_BYTES = 2 ** 20

/** A real path that is not copied, and what the copy has in its place. */
export interface ExcludedPath {
  readonly path: string
  readonly standIn: 'directory' | 'file' | 'nothing'
}

/**
 * Copies a directory, with shared content where the disk can. Files with several names become separate files, as in an
 * overlay. Skips the excluded paths: secrets, or the copy itself. O(files). Throws EIO if something cannot be read.
 */
export async function copyDirectory(
  from: string,
  to: string,
  excluded: readonly ExcludedPath[],
  signal?: AbortSignal,
): Promise<void> {
  await mkdir(to)
  const nested = excluded.filter(({ path }) => isWithin(path, from))
  if (nested.length > 0) await copyExcept(from, to, nested, signal)
  else await runCopy(from, ['cp', ...getCopyOptions(), '--', `${from}/.`, to], signal)
  copyAttributesSync(from, to)
}

async function copyExcept(
  from: string,
  to: string,
  excluded: readonly ExcludedPath[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (excluded.some(({ path }) => path === from)) return
  const names = new Set(excluded.map(({ path }) => path.slice(from.length + 1).split('/')[0] ?? ''))
  const others = [...names].flatMap((name) => ['!', '-name', escapePattern(name)])
  const copying = `exec cp ${getCopyOptions().join(' ')} -- "$@" "$0"`
  // By `find`, since a name that is not UTF-8 does not fit into a string.
  const found = ['find', `${from}/.`, '-mindepth', '1', '-maxdepth', '1', ...others]
  await runCopy(from, [...found, '-exec', 'sh', '-c', copying, to, '{}', '+'], signal)
  for (const name of names) {
    const [original, copy] = [join(from, name), join(to, name)]
    const whole = excluded.find(({ path }) => path === original)
    if (whole === undefined) await copyDirectory(original, copy, excluded, signal)
    else createStandIn(whole, copy)
  }
}

/** Creates an empty stand-in with the original's attributes: isolation can be mounted over it. */
function createStandIn({ path, standIn }: ExcludedPath, copy: string): void {
  if (standIn === 'nothing') return
  if (standIn === 'directory') mkdirSync(copy)
  else writeFileSync(copy, '', { mode: 0o600 })
  copyAttributesSync(path, copy)
}

/** Escapes a name, so that a pattern matches only it. */
function escapePattern(name: string): string {
  return name.replaceAll(/[\\*?[]/g, String.raw`\$&`)
}

async function runCopy(
  from: string,
  words: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [file = '', ...args] = words
  try {
    await promisify(execFile)(file, args, {
      env: { PATH: '/usr/bin:/bin' },
      maxBuffer: MAX_STDERR_BYTES,
      ...(signal !== undefined && { signal }),
    })
  } catch (error) {
    signal?.throwIfAborted()
    throw createCopyError(from, error)
  }
}

/** Creates EIO. `cp` may report an error for each file: the first one names the cause. */
function createCopyError(from: string, error: unknown): VfsError {
  const reason = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  const [first = '', ...others] = reason.split('\n')
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  const why = first === '' ? String(error) : `${first.replace(/^cp: /, '')}${more}`
  const advice = why.includes('Permission denied') ? '; make it readable for you with chmod' : ''
  const detail = `cannot copy ${from} for the command: ${why}${advice}`
  return new VfsError('EIO', from, { op: 'session', detail, cause: error })
}

function getCopyOptions(): string[] {
  return process.platform === 'linux'
    ? ['-a', '--no-preserve=links', '--reflink=auto']
    : // Clones where the disk can, on macOS.
      ['-c', '-R', '-p']
}

/** Reads the stats of a tree. O(files). */
export async function readTreeStats(root: string): Promise<TreeStats> {
  const tree = new Map<string, Map<string, ComparedStats>>()
  const pending = ['']
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const entries = new Map<string, ComparedStats>()
    for (const name of listHostNames(join(root, path))) {
      if (isTooDeep(join(root, path, name.name))) continue
      const stats = findStatsByName(join(root, path), name)
      if (stats === undefined) continue
      entries.set(name.name, stats)
      if (stats.isDirectory() && name.raw === undefined) pending.push(`${path}/${name.name}`)
    }
    tree.set(path, entries)
  }
  return tree
}
