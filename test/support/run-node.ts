import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url))

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs this Node in the repository, with the package's own name leading to its source. */
export function runNode(
  args: readonly string[],
  { env = {} }: { env?: NodeJS.ProcessEnv } = {},
): Promise<Run> {
  const child = spawn(process.execPath, ['--conditions=coppice-source', ...args], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  })
  const text = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    text.stdout += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    text.stderr += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...text }))
  })
}
