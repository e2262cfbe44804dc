import { type ChildProcessByStdio, type SpawnOptionsWithStdioTuple, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { VfsError } from '../../../vfs/index.ts'

/** Default `PATH`, for a caller that passes none. */
const DEFAULT_PATH = '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin'

/** Environment of a Git process. */
export interface GitContext {
  /** Variables for Git: `PATH` to find it, proxies. Those that steer Git itself are left out. */
  readonly environment?: Readonly<Record<string, string>>
  /** Git settings, such as `http.extraHeader`. They are passed so that no process list shows them. */
  readonly settings?: Readonly<Record<string, string>>
  /** Protocols that Git may use, such as `http:https`. None when absent: then no repository makes it connect. */
  readonly protocols?: string
  /** Directory above which Git looks for no repository. */
  readonly ceiling?: string
  /** Limits the memory that each process of Git may allocate, not counting files it maps. */
  readonly maxMemoryBytes?: number
}

/** Settings of every call: no program that a repository names, and no maintenance. */
const SAFE_SETTINGS: Readonly<Record<string, string>> = {
  'core.alternateRefsCommand': 'true',
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.quotePath': 'false',
  'credential.helper': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
}

/** Kept part of Git's output: a server can send messages without end, and the last one has the cause. */
const MAX_OUTPUT_BYTES = 64 * 1024

export type GitChild = ChildProcessByStdio<Writable, Readable, Readable>

export interface GitRun extends GitContext {
  readonly input?: string
  readonly signal?: AbortSignal
}

/** Starts Git with its three streams as pipes. */
export function startGit(args: readonly string[], context: GitContext): GitChild {
  const { maxMemoryBytes } = context
  const options: SpawnOptionsWithStdioTuple<'pipe', 'pipe', 'pipe'> = {
    env: createEnvironment(context),
    stdio: ['pipe', 'pipe', 'pipe'],
  }
  if (maxMemoryBytes === undefined) return spawn('git', args, options)
  // Ignores the error if the hard limit is lower already.
  const limited = 'ulimit -d "$0" 2>/dev/null; exec git "$@"'
  return spawn('sh', ['-c', limited, String(Math.ceil(maxMemoryBytes / 1024)), ...args], options)
}

/** Output and exit code of Git. */
export interface GitResult {
  readonly code: number | null
  readonly output: string
  readonly stderr: string
}

/** Runs Git until it exits. ENOTSUP where it is not installed. */
export async function runGit(
  args: readonly string[],
  { input = '', signal, ...rest }: GitRun,
): Promise<GitResult> {
  signal?.throwIfAborted()
  const child = startGit(args, rest)
  const stop = () => {
    child.kill()
    // Programs that Git started may keep these open until their server answers.
    child.stdout.destroy()
    child.stderr.destroy()
  }
  signal?.addEventListener('abort', stop)
  try {
    // Git may exit without reading its input; its exit code says more.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    const [code, output, stderr] = await Promise.all([
      waitForExit(child),
      readLastOutput(child.stdout),
      readLastOutput(child.stderr),
    ])
    signal?.throwIfAborted()
    return { code, output, stderr: stderr.trim() }
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Reads a whole stream and returns the last part of it. */
async function readLastOutput(stream: Readable): Promise<string> {
  let kept: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) kept = Buffer.concat([kept, chunk]).subarray(-MAX_OUTPUT_BYTES)
  return kept.toString()
}

/** Returns the exit code, or null after a signal. ENOTSUP if Git cannot be started. */
export function waitForExit(child: GitChild): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(createNotInstalledError(cause)))
    child.once('close', resolve)
  })
}

export function createNotInstalledError(cause: unknown): VfsError {
  const detail = 'git is not installed; install git 2.36 or newer, or pass its PATH'
  return new VfsError('ENOTSUP', '/', { op: 'open', detail, cause })
}

function createEnvironment(context: GitContext): Record<string, string> {
  const { environment = {}, settings = {}, protocols = '', ceiling } = context
  const given = Object.entries(environment).filter(([name]) => !name.startsWith('GIT_'))
  const all = Object.entries({ ...SAFE_SETTINGS, ...settings })
  const configuration = all.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return {
    PATH: DEFAULT_PATH,
    ...Object.fromEntries(given),
    ...Object.fromEntries(configuration),
    GIT_CONFIG_COUNT: String(all.length),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_ALLOW_PROTOCOL: protocols,
    ...(ceiling !== undefined && { GIT_CEILING_DIRECTORIES: ceiling }),
    LC_ALL: 'C',
  }
}
