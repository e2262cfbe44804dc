import { existsSync } from 'node:fs'
import type { Boundary, BoundaryRunOptions, RunReport } from '../../../boundary/index.ts'
import { escapeName } from '../../../text/index.ts'
import type { OverwrittenChanges } from '../../../workspace/index.ts'
import type { OpenHome } from '../../access/home-access.ts'
import { getComparePath, isUiServed } from '../../access/ui-address.ts'
import { applyStyle } from '../../framework/terminal.ts'
import { formatChangeSummary } from '../../render/change-summary.ts'
import { formatLeftOut } from '../../render/left-out.ts'
import { withProgress } from '../../render/progress.ts'
import { quoteShellWord } from '../../render/shell-word.ts'
import { createRedactedEnvelope } from './envelope-output.ts'
import { askAboutRefusedHosts } from './refused-hosts.ts'
import { createApprovalOptions } from './run-connection.ts'
import type { RunInvocation } from './run-options.ts'
import type { PreparedRun } from './run-request.ts'

/** Exit codes of a shell for a command that timed out, was killed, was not found, and was interrupted. */
const [EXIT_TIMED_OUT, EXIT_STOPPED, EXIT_NOT_FOUND, EXIT_INTERRUPTED] = [124, 137, 127, 130]
const STOP_MESSAGES = {
  timeout: 'the command was stopped at its time limit; --timeout SECONDS sets another, 0 none',
  memory: 'the command was stopped at its memory limit; --memory SIZE sets another, none lifts it',
  disk: 'the command was stopped at its disk limit',
  abort: 'the command was stopped',
} as const
const INTERRUPTED_NOTE = '; the changes so far are kept'
/** A variable before a program, and commands that are part of a shell. */
const SHELL_WORD = /^(?:\w+=.*|alias|cd|eval|exec|export|set|source|type|ulimit|umask|unset|\.)$/s
/** Changes that a diff of vaults does not list. */
const ATTRIBUTES_ONLY = '  only owners, or permissions of directories'

/** Returns the exit code of a command, as a shell reports it. */
export function getExitCode({ result: { exit_code, timed_out } }: RunReport): number {
  return exit_code ?? (timed_out ? EXIT_TIMED_OUT : EXIT_STOPPED)
}

/**
 * Runs a command, prints its changes and the next steps, and returns its exit code. Runs it again if the person allows
 * hosts that it could not reach.
 */
export async function runAndReport(
  call: RunInvocation,
  open: OpenHome,
  boundary: Boundary,
  run: PreparedRun,
): Promise<number> {
  const { request, options, withheld, redactor } = run
  const lines: string[] = []
  // Without the signal: an interruption ends the command, not this summary.
  const { signal: _signal, ...provenance } = open.ctx
  const onChanges: BoundaryRunOptions['onChanges'] = async ({ changes, trees, overwritten }) => {
    if (trees !== undefined)
      lines.push(...(await formatChangeSummary(call.terminal, changes, trees, provenance)))
    if (overwritten !== undefined) lines.push(...formatOverwritten(overwritten))
  }
  const asking = createApprovalOptions(call, 1)
  const report = await boundary.run(request, {
    ...options,
    ...asking,
    watchCheckout: (work) => withProgress(call.terminal, 'check out', 'file', work),
    ...(!call.isJson && { onChanges }),
  })
  if (call.isJson)
    await call.output.writeValue(await createRedactedEnvelope(request, report, redactor, withheld))
  else {
    printWithheld(call, withheld)
    // A command in a terminal has no stderr of its own: these are messages about the run, which waited for its end.
    if (options.terminal !== undefined && typeof report.result.stderr === 'string')
      call.terminal.err.write(report.result.stderr)
    printChanges(call, report, { lines, isNamed: options.fork !== undefined })
    if (lines.length > 0) await printForkLink(call, open.path, report)
  }
  const nextRun = await prepareNextRun(call, boundary, run, report)
  return nextRun === undefined ? getExitCode(report) : runAndReport(call, open, boundary, nextRun)
}

/**
 * Returns the same run with more hosts, if the person at the terminal allows hosts that were refused; otherwise
 * undefined.
 */
async function prepareNextRun(
  { terminal, isJson }: RunInvocation,
  boundary: Boundary,
  run: PreparedRun,
  report: RunReport,
): Promise<PreparedRun | undefined> {
  // A person who ended a server by Ctrl-C does not want it again.
  const isInterrupted = terminal.signal.aborted || report.result.exit_code === EXIT_INTERRUPTED
  // An agent works on without the hosts of its telemetry; another run would be another session.
  if (isJson || !terminal.canAsk || isInterrupted || run.isAgent) return undefined
  const fork = report.fork ?? run.options.fork
  const allowed = await askAboutRefusedHosts(terminal, boundary, report, fork)
  if (allowed.length === 0) return undefined
  const allowedHosts = [...(run.options.allowedHosts ?? []), ...allowed]
  return { ...run, options: { ...run.options, fork, allowedHosts } }
}

/** Returns the line of a command that only a shell understands, if it was not found; undefined for any other. */
function findShellLine({ command, exit_code }: RunReport['result']): string | undefined {
  if (exit_code !== EXIT_NOT_FOUND || !('argv' in command)) return undefined
  const [first = '', ...others] = command.argv
  if (others.length === 0 && first.includes(' ')) return first
  return SHELL_WORD.test(first) ? command.argv.map(quoteShellWord).join(' ') : undefined
}

/** Formats the paths that others changed too, in the same lines. */
function formatOverwritten({ paths, checkpoint }: OverwrittenChanges): string[] {
  const reason = `was changed meanwhile in the same places; that version is in the checkpoint ${checkpoint}`
  return paths.map((path) => `  ! ${escapeName(path)} ${reason}`)
}

/** Prints the variables that a command did not get. */
export function printWithheld({ terminal }: RunInvocation, names: readonly string[]): void {
  if (names.length === 0) return
  const listed = names.map(escapeName).join(', ')
  terminal.err.write(`coppice: withheld from the command: ${listed}; pass one on with --env NAME\n`)
}

/** Prints the changes and the next steps to standard error: standard output is the command's own. */
function printChanges(
  call: RunInvocation,
  { result, fork: name }: RunReport,
  { lines, isNamed }: { readonly lines: string[]; readonly isNamed: boolean },
): void {
  const { err, signal } = call.terminal
  if (signal.aborted) err.write(`coppice: interrupted${name === null ? '' : INTERRUPTED_NOTE}\n`)
  else if (result.stopped !== undefined) err.write(`coppice: ${STOP_MESSAGES[result.stopped]}\n`)
  const line = findShellLine(result)
  if (line !== undefined)
    err.write(`coppice: for a line of a shell use: coppice exec --shell -- ${quoteShellWord(line)}\n`)
  for (const line of formatLeftOut(result.left_out)) err.write(`coppice: ${line}\n`)
  if (name === null) return
  const isLinked = result.vault.startsWith('/')
  const isGone = isLinked && !existsSync(result.vault)
  if (isGone)
    err.write(
      `coppice: ${escapeName(result.vault)} was deleted meanwhile; the changes of the command are kept\n`,
    )
  const hasDirectory = isLinked && !isGone
  // A named fork stays for later commands; changed times alone are not worth a message.
  if (lines.length === 0 && (hasDirectory || isNamed)) return
  if (lines.length === 0) lines.push(ATTRIBUTES_ONLY)
  const next = hasDirectory ? `coppice diff ${name} · coppice apply ${name}` : formatVaultHint(name, isGone)
  const bold = applyStyle(call.terminal, 'bold', name)
  err.write(`\n${lines.join('\n')}\n\nin ${bold}: ${next} · coppice drop ${name}\n`)
}

/**
 * Prints the address of a fork's changes if the page is served. Only at a terminal, never into a log: it opens a
 * session.
 */
async function printForkLink(
  { terminal }: RunInvocation,
  home: string,
  { result, fork }: RunReport,
): Promise<void> {
  if (fork === null || !terminal.canAsk || !isUiServed(home)) return
  const { createUiLink } = await import('../../access/ui-link.ts')
  const link = await createUiLink(home, getComparePath(fork, result.vault.startsWith('/'), result.vault))
  if (link !== undefined) terminal.err.write(`see ${link}\n`)
}

/** Formats the next steps for a fork without a directory: inspect it, merge it or export it. */
function formatVaultHint(name: string, isGone: boolean): string {
  const keep = isGone ? `coppice export <directory> --vault ${name}` : `coppice merge ${name}`
  return `coppice diff --vault ${name} --patch · ${keep}`
}
