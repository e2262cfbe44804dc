import { constants } from 'node:os'
import type { Command, Family } from './command.ts'
import { isDumb, type Terminal } from './terminal.ts'
import { version } from './version.ts'

/** What a shell expects of a process that a signal ended, though it cleaned up first. */
const EXIT_SIGNALLED = 128

/** What ends a command: ^C, somebody else, the terminal that is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Why the output could not be written. */
const unwritten = new WeakSet<Error>()

/** Runs the CLI and returns its exit code. The one place where the process, its signals and errors are met. */
export async function main(args: readonly string[]): Promise<number> {
  const interruption = new AbortController()
  let exitInterrupted = EXIT_SIGNALLED + constants.signals.SIGINT
  const interrupt = (signal: NodeJS.Signals) => {
    exitInterrupted = EXIT_SIGNALLED + constants.signals[signal]
    interruption.abort()
  }
  // Once: who presses ^C again does not want to wait for the cleaning up.
  for (const signal of SIGNALS) process.once(signal, interrupt)
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => exitUnheard(stream, error))
  muteSqliteWarning()
  const terminal = terminalOf(interruption.signal)
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    if (isUnheard(error)) return 0
    if (interruption.signal.aborted || isAbort(error)) return exitInterrupted
    return await report(error, isJson(args), terminal)
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

function terminalOf(signal: AbortSignal): Terminal {
  const { stdin, stdout: out, stderr: err } = process
  return {
    in: stdin,
    out,
    err,
    isInteractive: out.isTTY === true,
    showsProgress: err.isTTY === true && !isDumb(),
    canAsk: stdin.isTTY === true && err.isTTY === true,
    signal,
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = args
  if (first === '--version' || first === '-v') return print(terminal, version())
  if (first === '__complete') return offer(args.slice(1), terminal)
  const { overview, resolveCommand } = await import('./dispatch.ts')
  if (first === undefined || (isHelp(first) && args.length === 1)) {
    return print(terminal, await overview(version()))
  }
  const { helpOf, helpOfFamily } = await import('./help.ts')
  const isAsking = isHelp(first)
  const { entry, rest } = await resolveCommand(isAsking ? args.slice(1) : args)
  const explain = (found: Command | Family) =>
    'commands' in found ? helpOfFamily(found) : helpOf(found.definition)
  if (isAsking || asksHelp(rest) || 'commands' in entry) return print(terminal, explain(entry))
  return entry.run(rest, terminal)
}

/** What the completion scripts ask for while a line is being typed. */
async function offer(words: readonly string[], terminal: Terminal): Promise<number> {
  const { complete } = await import('./completion.ts')
  const candidates = await complete(words, terminal)
  if (candidates === 'files') return print(terminal, ':files')
  const lines = candidates.map(({ word, summary = '' }) => `${word}\t${summary}\n`)
  terminal.out.write(lines.join(''))
  return 0
}

function isHelp(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h'
}

/** After `--` everything is an argument. */
function optionsIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

function asksHelp(args: readonly string[]): boolean {
  return optionsIn(args).some((word) => word === '--help' || word === '-h')
}

function isJson(args: readonly string[]): boolean {
  return optionsIn(args).includes('--json')
}

function print({ out }: Terminal, text: string): number {
  out.write(`${text}\n`)
  return 0
}

async function report(error: unknown, asJson: boolean, { err }: Terminal): Promise<number> {
  const { describeError, errorJson, errorLine } = await import('./errors.ts')
  const { exitCode, message } = describeError(error)
  err.write(asJson ? `${JSON.stringify(errorJson(error))}\n` : errorLine(message))
  return exitCode
}

/** Node 22 calls its SQLite an experiment at every start, which is nothing the user can do about. */
function muteSqliteWarning(): void {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return
    for (const print of printers) print(warning)
  })
}

/** ^C at a question does not reach us as a signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Who waits for the stream at that moment is told himself; a command that always listens has more to do than to write. */
function exitUnheard(stream: NodeJS.WriteStream, error: Error): void {
  unwritten.add(error)
  if (stream.listenerCount('error') > 1) return
  if (isUnheard(error)) process.exit(0)
  throw error
}

/** What nobody reads needs not be written. */
function isUnheard(error: unknown): boolean {
  return error instanceof Error && unwritten.has(error) && 'code' in error && error.code === 'EPIPE'
}
