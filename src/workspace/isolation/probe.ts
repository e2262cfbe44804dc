import { type ExecFileException, execFile } from 'node:child_process'
import { VfsError } from '../../vfs/index.ts'
import { isolationEnvironment } from './isolation-tools.ts'

/** A probe takes this long only on a machine that hangs. */
const PROBE_TIMEOUT_MS = 10_000

/** Messages of a machine that is out of resources. They say nothing about its capabilities. */
const EXHAUSTED =
  /EMFILE|ENFILE|EAGAIN|ENOMEM|Too many open files|Resource temporarily|Cannot allocate memory/

/** The result of a probe, with its output or the reason of its failure. */
export type ProbeResult =
  | { readonly works: true; readonly output?: string }
  | { readonly works: false; readonly reason: string }

/**
 * Runs a program as a probe, and returns the reason if it fails. Throws EUNAVAILABLE if the probe is inconclusive: a
 * busy machine is not one that cannot isolate.
 */
export function runProbe(argv: readonly string[], cwd = '/'): Promise<ProbeResult> {
  const [file = '', ...args] = argv
  return new Promise((resolve, reject) => {
    const options = {
      cwd,
      env: isolationEnvironment,
      timeout: PROBE_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    } as const
    execFile(file, args, options, (error, output, stderr) => {
      if (error === null) return resolve({ works: true, output: output })
      const reason = getFirstLine(stderr) || error.message
      if (isUndecided(error, reason)) reject(createUndecidedError(error, reason))
      else resolve({ works: false, reason })
    })
  })
}

/** Runs a probe once. An inconclusive probe runs again at the next call. */
export function memoizeAsync<Result>(find: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= find().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}

function isUndecided({ killed }: ExecFileException, reason: string): boolean {
  return killed === true || EXHAUSTED.test(reason)
}

function createUndecidedError(cause: ExecFileException, reason: string): VfsError {
  const why = cause.killed ? 'the probe timed out' : reason
  const detail = `cannot check how this machine isolates commands: ${why}; try again`
  return new VfsError('EUNAVAILABLE', '/', { op: 'exec', detail, cause })
}

function getFirstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
