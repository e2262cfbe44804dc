import { spawn } from 'node:child_process'

interface ProgramOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  readonly timeoutMs?: number
}

export interface Ended {
  /** What it returned; 128 where a signal ended it, 124 where its time was over. */
  readonly status: number
  /** What it wrote to both outputs. */
  readonly output: string
}

const MINUTE_MS = 60_000
const TIME_OVER = 124
const BY_SIGNAL = 128

/** Runs a program to its end, whatever that is. All its processes end with it when the time is over. */
export async function execute(
  command: readonly [program: string, ...args: string[]],
  { cwd, env, input = '', timeoutMs = 10 * MINUTE_MS }: ProgramOptions = {},
): Promise<Ended> {
  const [program, ...args] = command
  const { promise, resolve, reject } = Promise.withResolvers<Ended>()
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, detached: true })
  const pieces: Buffer[] = []
  let isOver = false
  // Its group, since a test has children of its own.
  const end = () => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')
  process.once('exit', end)
  const timer = setTimeout(() => {
    isOver = true
    end()
  }, timeoutMs)
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(piece))
  // A program that does not read all of it has its reasons.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  child.once('error', reject)
  child.once('close', (code) => {
    const output = Buffer.concat(pieces).toString('utf8')
    resolve({ status: isOver ? TIME_OVER : (code ?? BY_SIGNAL), output })
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    process.off('exit', end)
  }
}

/** The same for a program that must succeed; its output. */
export async function succeed(
  command: readonly [program: string, ...args: string[]],
  options: ProgramOptions = {},
): Promise<string> {
  const { status, output } = await execute(command, options)
  if (status === 0) return output
  throw new Error(`${command.join(' ')} ended with ${status}: ${lastLines(output)}`)
}

/** The end of an output, where the reason is. */
export function lastLines(output: string, count = 5): string {
  return output.trim().split('\n').slice(-count).join('\n')
}
