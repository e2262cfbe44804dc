import { dirname, resolve } from 'node:path'
import { VfsError } from '../../../vfs/index.ts'
import { type GitContext, runGit } from './git-command.ts'
import { NativeReader } from './native-reader.ts'

/** The first Git with `cat-file --batch-command`. */
const MIN_GIT_VERSION = [2, 36] as const

export interface NativeOptions {
  readonly repository: string
  readonly environment?: Readonly<Record<string, string>>
  /** Read a repository that belongs to another user of this machine. */
  readonly trustOwner?: boolean
  readonly signal?: AbortSignal
}

/** `PATH` values at which a usable Git was found. */
const usablePaths = new Set<string | undefined>()

/** True if a supported Git is installed. */
export async function hasGit(environment: Readonly<Record<string, string>> = {}): Promise<boolean> {
  const { PATH: path } = environment
  if (usablePaths.has(path)) return true
  const isInstalled = await isUsable(environment)
  if (isInstalled) usablePaths.add(path)
  return isInstalled
}

async function isUsable(environment: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    const { output } = await runGit(['version'], { environment })
    const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(output) ?? []).map(Number)
    return major > MIN_GIT_VERSION[0] || (major === MIN_GIT_VERSION[0] && minor >= MIN_GIT_VERSION[1])
  } catch {
    return false
  }
}

/** Opens a repository of this machine: a working tree, a bare one, a worktree. ENOENT, EACCES if it is another user's. */
export async function openNative(options: NativeOptions): Promise<NativeReader> {
  const { directory, context } = await locateRepository(options)
  return new NativeReader({ directory, context })
}

/** Finds the directory of a repository, for `--git-dir`. */
export async function locateRepository({
  repository,
  environment,
  trustOwner = false,
  signal,
}: NativeOptions): Promise<{ directory: string; context: GitContext }> {
  const location = resolve(repository)
  const context: GitContext = {
    ...(environment !== undefined && { environment }),
    ...(trustOwner && { settings: { 'safe.directory': '*' } }),
  }
  const { code, output, stderr } = await runGit(['-C', location, 'rev-parse', '--absolute-git-dir'], {
    ...context,
    // Opens exactly this path, not a repository that contains it.
    ceiling: dirname(location),
    ...(signal !== undefined && { signal }),
  })
  if (code !== 0) throw createOpenError(location, stderr)
  return { directory: output.replace(/\n$/, ''), context }
}

function createOpenError(location: string, complaint: string): VfsError {
  if (complaint.includes('dubious ownership')) {
    const detail = 'the repository belongs to another user; if you trust it, pass trustOwner (--trust-owner)'
    return new VfsError('EACCES', location, { op: 'open', detail })
  }
  if (/not a git repository|cannot change to|No such file/.test(complaint))
    return createMissingError(location)
  return new VfsError('EIO', location, { op: 'open', detail: `git cannot open the repository: ${complaint}` })
}

function createMissingError(location: string): VfsError {
  return new VfsError('ENOENT', location, { op: 'open', detail: 'not a git repository' })
}
