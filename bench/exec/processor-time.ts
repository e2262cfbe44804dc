import { spawnSync } from 'node:child_process'

/** A program with its surroundings. */
export interface TimedProgram {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly input?: string
}

/** Seconds that a program takes. */
interface ProgramTimes {
  /** From its start to its end. */
  readonly elapsed: number
  /** Processor time, with that of its children. */
  readonly processor: number
}

/** Returns the seconds of processor time of a program and its children. Throws if it fails. */
export function getProcessorTime(program: TimedProgram): number {
  return measureProgram(program).processor
}

/** Returns the seconds from the start of a program to its end. Throws if it fails. */
export function getElapsedTime(program: TimedProgram): number {
  return measureProgram(program).elapsed
}

/** Runs a program and measures it. Throws if it fails. */
export function measureProgram({ argv, cwd, env, input = '' }: TimedProgram): ProgramTimes {
  const script = `TIMEFORMAT='%3R %3U %3S'; time "$@" >/dev/null`
  const options = { cwd, env, input, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync('bash', ['-c', script, 'bash', ...argv], options)
  const lastLine = stderr.trim().split('\n').at(-1) ?? ''
  const [elapsed = Number.NaN, user = Number.NaN, system = Number.NaN] = lastLine.split(' ').map(Number)
  if (status !== 0 || Number.isNaN(elapsed + user + system))
    throw new Error(`'${argv.join(' ')}' failed: ${stderr}`)
  return { elapsed, processor: user + system }
}
