import { readFileSync } from 'node:fs'
import { isVfsError } from '../vfs/index.ts'
import { type Command, UsageError } from './command.ts'
import { tour } from './commands/tour.ts'
import type { Terminal } from './terminal.ts'

const commands: readonly Command[] = [tour]

const EXIT_FAILED = 1
const EXIT_USAGE = 2
const EXIT_INTERRUPTED = 130

/** Runs the CLI and returns its exit code. The one place where the process, its signals and errors are met. */
export async function main(args: readonly string[]): Promise<number> {
  const interruption = new AbortController()
  const interrupt = () => interruption.abort()
  process.once('SIGINT', interrupt)
  process.stdout.on('error', exitOnBrokenPipe)
  const { stdout: out, stderr: err } = process
  const terminal = { out, err, isInteractive: out.isTTY === true, signal: interruption.signal }
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    if (interruption.signal.aborted) return EXIT_INTERRUPTED
    return report(error, args.includes('--json'), terminal)
  } finally {
    process.off('SIGINT', interrupt)
  }
}

async function dispatch([name, ...rest]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === '--version' || name === '-v') return print(terminal, version())
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const [about] = rest
    return print(terminal, about === undefined ? overview() : find(about).help)
  }
  const command = find(name)
  if (rest.includes('--help') || rest.includes('-h')) return print(terminal, command.help)
  return command.run(rest, terminal)
}

function find(name: string): Command {
  const command = commands.find((candidate) => candidate.name === name)
  if (command) return command
  const known = commands.map((candidate) => candidate.name).join(', ')
  throw new UsageError(`there is no command '${name}'; known: ${known}. See coppice --help`)
}

function print({ out }: Terminal, text: string): number {
  out.write(`${text}\n`)
  return 0
}

function report(error: unknown, asJson: boolean, { err }: Terminal): number {
  const message = error instanceof Error ? error.message : String(error)
  if (asJson) {
    const { code, path } = isVfsError(error) ? error : { code: 'EINTERNAL', path: null }
    err.write(`${JSON.stringify({ error: { code, message, path } })}\n`)
  } else {
    err.write(`coppice: ${message}\n`)
  }
  const isUsage = error instanceof UsageError || (error instanceof TypeError && isParseError(error))
  return isUsage ? EXIT_USAGE : EXIT_FAILED
}

/** What `parseArgs` throws for an option it does not know. */
function isParseError(error: Error): boolean {
  return 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

function exitOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
}

function overview(): string {
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`)
  return `coppice ${version()}: one filesystem for AI agents

Usage: coppice <command> [options]

Commands:
${list.join('\n')}

Options:
  --help      Show help; after a command, the help of that command
  --version   Show the version

Example:
  coppice tour`
}

function version(): string {
  const manifest: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return manifest.version
}
