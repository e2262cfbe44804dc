import { once } from 'node:events'
import { constants } from 'node:os'
import type { Command, CommandGroup } from './framework/command.ts'
import { isDumbTerminal, type Terminal } from './framework/terminal.ts'
import { readVersion } from './package-root.ts'

/** Base of the exit code that shells expect after a signal. */
const EXIT_SIGNALLED = 128

/** Signals that end a command: ^C, kill, a closed terminal. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Time after which a command that was ended says how to end it at once. */
const ENDING_HINT_MS = 3000

const VERSION_WORDS: readonly string[] = ['--version', '-v', '-V', 'version']

/** Errors of standard output and standard error. */
const writeErrors = new WeakSet<Error>()

/** Runs the CLI and returns its exit code. Only this function handles the process, its signals and its errors. */
export async function main(args: readonly string[]): Promise<number> {
  const interruption = new AbortController()
  let exitInterrupted = EXIT_SIGNALLED + constants.signals.SIGINT
  let endingHint: NodeJS.Timeout | undefined
  const interrupt = (signal: NodeJS.Signals) => {
    exitInterrupted = EXIT_SIGNALLED + constants.signals[signal]
    interruption.abort()
    if (!isJsonRequested(args)) endingHint ??= setTimeout(printEndingHint, ENDING_HINT_MS, signal).unref()
  }
  // Once: a second ^C ends the process without cleaning up.
  for (const signal of ENDING_SIGNALS) process.once(signal, interrupt)
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => exitOnWriteError(stream, error))
  muteExperimentalWarnings()
  const terminal = createTerminal(interruption.signal)
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    if (isBrokenPipe(error)) return 0
    if (interruption.signal.aborted || isAbort(error)) return exitInterrupted
    return await printError(error, isJsonRequested(args), terminal)
  } finally {
    clearTimeout(endingHint)
    for (const signal of ENDING_SIGNALS) process.off(signal, interrupt)
  }
}

/** Says why a command that was ended goes on, such as one that waits for a database, and how to end it. */
function printEndingHint(signal: NodeJS.Signals): void {
  const again = signal === 'SIGINT' ? 'a second Ctrl-C' : `a second ${signal}`
  process.stderr.write(`coppice: still ending; ${again} ends it at once and leaves the home intact\n`)
}

function createTerminal(signal: AbortSignal): Terminal {
  const { stdout: out, stderr: err } = process
  return {
    // Created on use: it takes time, and most commands read nothing.
    get in() {
      return process.stdin
    },
    inputDescriptor: 0,
    out,
    err,
    isInteractive: out.isTTY === true,
    showsProgress: err.isTTY === true && !isDumbTerminal(),
    canAsk: err.isTTY === true && process.stdin.isTTY === true,
    signal,
  }
}

async function dispatch(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = args
  if (first !== undefined && VERSION_WORDS.includes(first)) return print(terminal, readVersion())
  if (first === '__complete') return printCompletions(args.slice(1), terminal)
  const { formatAllCommands, formatOverview, resolveCommand } = await import('./dispatch.ts')
  if (first === undefined || (isHelpWord(first) && args.length === 1)) {
    return print(terminal, await formatOverview(readVersion()))
  }
  if (isHelpWord(first) && args.length === 2 && args[1] === '--all') {
    return print(terminal, await formatAllCommands(readVersion()))
  }
  const { formatCommandHelp, formatGroupHelp } = await import('./render/help.ts')
  const isHelp = isHelpWord(first)
  const { entry, rest } = await resolveCommand(isHelp ? args.slice(1) : args)
  const explain = (found: Command | CommandGroup) =>
    'commands' in found ? formatGroupHelp(found) : formatCommandHelp(found.definition)
  if (isHelp || isHelpRequested(rest) || 'commands' in entry) return print(terminal, explain(entry))
  return entry.run(rest, terminal)
}

/** Prints the candidates that the completion scripts read. */
async function printCompletions(words: readonly string[], terminal: Terminal): Promise<number> {
  const { completeWords } = await import('./completion.ts')
  const candidates = await completeWords(words, terminal)
  if (candidates === 'files') return print(terminal, ':files')
  const lines = candidates.map(({ word, summary = '' }) => `${word}\t${summary}`)
  return lines.length === 0 ? 0 : print(terminal, lines.join('\n'))
}

function isHelpWord(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h'
}

/** Lists the words before `--`; all later words are arguments. */
function listOptionWords(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

function isHelpRequested(args: readonly string[]): boolean {
  return listOptionWords(args).some((word) => word === '--help' || word === '-h')
}

function isJsonRequested(args: readonly string[]): boolean {
  return listOptionWords(args).includes('--json')
}

async function print({ out, signal }: Terminal, text: string): Promise<number> {
  // A write that fails returns false as well; waiting raises its error.
  if (!out.write(`${text}\n`)) await once(out, 'drain', { signal })
  return 0
}

async function printError(error: unknown, asJson: boolean, terminal: Terminal): Promise<number> {
  const { describeError, writeError } = await import('./framework/errors.ts')
  writeError(terminal, error, asJson)
  return describeError(error).exitCode
}

/** Experimental features of Node that this program relies on. Node warns at their first use; the user cannot act on it. */
const EXPERIMENTAL = /^(?:SQLite|vm\.USE_MAIN_CONTEXT_DEFAULT_LOADER) /

function muteExperimentalWarnings(): void {
  const printers = process.listeners('warning')
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    if (warning.name === 'ExperimentalWarning' && EXPERIMENTAL.test(warning.message)) return
    for (const print of printers) print(warning)
  })
}

/** Reports whether an operation was aborted: ^C at a question throws this error and raises no signal. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/**
 * Ends the process on a write error, unless a command has its own listener on the stream: with 0 if the reader has
 * gone, otherwise by throwing the error.
 */
function exitOnWriteError(stream: NodeJS.WriteStream, error: Error): void {
  writeErrors.add(error)
  if (stream.listenerCount('error') > 1) return
  if (isBrokenPipe(error)) process.exit(0)
  throw error
}

/** Reports whether the reader of our output has gone. */
function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && writeErrors.has(error) && 'code' in error && error.code === 'EPIPE'
}
