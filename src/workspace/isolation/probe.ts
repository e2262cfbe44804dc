import { type ExecFileException, execFile } from 'node:child_process'
import { VfsError } from '../../vfs/index.ts'
import { isolationEnvironment } from './isolation-tools.ts'

/** Nothing that is tried takes this long, unless the machine does not answer. */
const PROBE_TIMEOUT_MS = 10_000

/** Messages of a machine that is out of resources for now: they say nothing about its capabilities. */
const EXHAUSTED =
  /EMFILE|ENFILE|EAGAIN|ENOMEM|Too many open files|Resource temporarily|Cannot allocate memory/

/** Whether something works here, and if not, why. */
export type ProbeResult =
  | { readonly works: true; readonly said?: string }
  | { readonly works: false; readonly reason: string }

/**
 * Runs a program as a probe, and returns why it failed. EUNAVAILABLE if the probe is inconclusive
 * now: a machine that is too busy must not be taken for one that cannot isolate.
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
    execFile(file, args, options, (error, said, stderr) => {
      if (error === null) return resolve({ works: true, said })
      const reason = getFirstLine(stderr) || error.message
      if (isUndecided(error, reason)) reject(createUndecidedError(error, reason))
      else resolve({ works: false, reason })
    })
  })
}

/** Runs a probe once. An inconclusive probe runs again at the next call. */
export function memoizeAsync<Found>(find: () => Promise<Found>): () => Promise<Found> {
  let found: Promise<Found> | undefined
  return () => {
    found ??= find().catch((error: unknown) => {
      found = undefined
      throw error
    })
    return found
  }
}

function isUndecided({ killed }: ExecFileException, reason: string): boolean {
  return killed === true || EXHAUSTED.test(reason)
}

function createUndecidedError(cause: ExecFileException, reason: string): VfsError {
  const why = cause.killed ? 'it does not answer' : reason
  const detail = `this machine is too busy to find out how it can isolate commands: ${why}; try again`
  return new VfsError('EUNAVAILABLE', '/', { op: 'exec', detail, cause })
}

function getFirstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
