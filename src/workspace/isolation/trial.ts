import { execFile } from 'node:child_process'
import { toolEnvironment } from './tools.ts'

/** Nothing that is tried takes this long, unless the machine does not answer. */
const TRIAL_TIMEOUT_MS = 10_000

/** Whether something works here, and if not, why. */
export type Trial = { readonly works: true } | { readonly works: false; readonly reason: string }

/** Runs a program that does nothing but show that it can, and says why it could not. */
export function tryOut(argv: readonly string[], cwd = '/'): Promise<Trial> {
  const [file = '', ...args] = argv
  return new Promise((resolve) => {
    const options = { cwd, env: toolEnvironment, timeout: TRIAL_TIMEOUT_MS, killSignal: 'SIGKILL' } as const
    execFile(file, args, options, (error, _stdout, stderr) => {
      if (error === null) resolve({ works: true })
      else resolve({ works: false, reason: firstLine(stderr) || error.message })
    })
  })
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}
