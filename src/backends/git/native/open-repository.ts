import { dirname, resolve } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { type GitSurroundings, runGit } from './git-command.ts'
import { NativeReader } from './native-reader.ts'

/** The first Git with `cat-file --batch-command`. */
const OLDEST = [2, 36] as const

export interface NativeOptions {
  readonly repository: string
  readonly environment?: Readonly<Record<string, string>>
  /** Read a repository that belongs to another user of this machine. */
  readonly trustOwner?: boolean
  readonly signal?: AbortSignal
}

/** The paths at which a Git was found: it does not go away. */
const found = new Set<string | undefined>()

/** Whether a Git that we can use is installed. */
export async function hasGit(environment: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const { PATH: path } = environment
  if (found.has(path)) return true
  const isThere = await isUsable(environment)
  if (isThere) found.add(path)
  return isThere
}

async function isUsable(environment: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const { output } = await runGit(['version'], { environment })
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(output) ?? []).map(Number)
    return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])
  } catch {
    return false
  }
}

/** Opens a repository of this machine: a working tree, a bare one, a worktree. ENOENT, EACCES if it is another user's. */
export async function openNative(options: NativeOptions): Promise<NativeReader> {
  const { directory, surroundings } = await locate(options)
  return new NativeReader({ directory, surroundings })
}

/** The directory of a repository, as `--git-dir` takes it. */
export async function locate({
  repository,
  environment,
  trustOwner = false,
  signal,
}: NativeOptions): Promise<{ directory: string; surroundings: GitSurroundings }> {
  const place = resolve(repository)
  const surroundings: GitSurroundings = {
    ...(environment !== undefined && { environment }),
    ...(trustOwner && { settings: { 'safe.directory': '*' } }),
  }
  const { code, output, complaint } = await runGit(['-C', place, 'rev-parse', '--absolute-git-dir'], {
    ...surroundings,
    // What is opened is what was named, not a repository it lies in.
    ceiling: dirname(place),
    ...(signal !== undefined && { signal }),
  })
  if (code !== 0) throw refusal(place, complaint)
  return { directory: output.replace(/\n$/, ''), surroundings }
}

function refusal(place: string, complaint: string): VfsError {
  if (complaint.includes('dubious ownership')) {
    const detail =
      'the repository belongs to another user; if you trust it, say so with trustOwner (--trust-owner)'
    return new VfsError('EACCES', place, { op: 'open', detail })
  }
  if (/not a git repository|cannot change to|No such file/.test(complaint)) return missing(place)
  return new VfsError('EIO', place, { op: 'open', detail: `git says: ${complaint}` })
}

function missing(place: string): VfsError {
  return new VfsError('ENOENT', place, { op: 'open', detail: 'there is no git repository' })
}
