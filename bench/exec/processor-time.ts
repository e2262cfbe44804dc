import { spawnSync } from 'node:child_process'

/** A program with its surroundings. */
export interface TimedProgram {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
}

/** Returns the seconds of processor time of a program and its children. Throws if it fails. */
export function getProcessorTime({ argv, cwd, env, input = '' }: TimedProgram): number {
  const script = `TIMEFORMAT='%3U %3S'; time "$@" >/dev/null`
  const options = { cwd, env, input, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], options)
  const [user = Number.NaN, system = Number.NaN] = stderr.trim().split(' ').map(Number)
  if (status !== 0 || Number.isNaN(user + system)) throw new Error(`'${argv.join(' ')}' failed: ${stderr}`)
  return user + system
}
