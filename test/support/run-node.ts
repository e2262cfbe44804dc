import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url))

export interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  /** True if the package's own name leads to what was built, as for its users; otherwise it leads to its source. */
  readonly isBuilt?: boolean
}

/** Runs this Node in the repository. */
export function runNode(
  args: readonly string[],
  { env = {}, isBuilt = false }: RunOptions = {},
): Promise<Run> {
  const conditions = isBuilt ? [] : ['--conditions=coppice-source']
  const child = spawn(process.execPath, [...conditions, ...args], {
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
