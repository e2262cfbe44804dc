import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { programFile } from './program-file.ts'
import type { WriterOrder } from './script-writer.ts'

/** A step that was acknowledged, and how it came out. */
export interface Ack {
  readonly number: number
  readonly outcome: string
}

/** A step the storage failed in. */
interface Failure {
  readonly number: number
  readonly code: string
  readonly message: string
}

export interface WriterRun {
  readonly acks: readonly Ack[]
  readonly failures: readonly Failure[]
  readonly code: number | null
  readonly stderr: string
}

export interface WriterWatch {
  /** Told of every line, the first when the home is about to be opened. */
  readonly onLine?: (writer: ChildProcess, acks: number) => void
  /** What to run it under, such as strace and its arguments. */
  readonly under?: readonly string[]
}

/** Starts a program of test/support with one argument, under another such as strace. */
export function startProgram(
  name: string,
  argument: unknown,
  under: readonly string[] = [],
): ChildProcessWithoutNullStreams {
  const command = [...under, process.execPath, programFile(name), JSON.stringify(argument)]
  const [program = process.execPath, ...args] = command
  return spawn(program, args, {
    env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** Runs a writer to its end, whoever brings it about. */
export async function runWriter(
  order: WriterOrder,
  { onLine, under = [] }: WriterWatch = {},
): Promise<WriterRun> {
  const writer = startProgram('script-writer', order, under)
  const [acks, failures]: [Ack[], Failure[]] = [[], []]
  let stderr = ''
  writer.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    writer.on('error', reject)
    writer.on('close', resolve)
  })
  for await (const line of createInterface({ input: writer.stdout })) {
    const [first = '', second = '', third = '', ...rest] = line.split(' ')
    if (first === 'failed') failures.push({ number: Number(second), code: third, message: rest.join(' ') })
    else if (first !== 'opening') acks.push({ number: Number(first), outcome: second })
    onLine?.(writer, acks.length)
  }
  return { acks, failures, code: await ended, stderr }
}
