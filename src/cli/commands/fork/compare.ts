import { homedir } from 'node:os'
import type { Boundary, RunReport } from '../../../boundary/index.ts'
import { escapeName } from '../../../text/index.ts'
import {
  ExecutionRefusal,
  type LinkedDirectory,
  type LinkedFork,
  matchesWildcard,
} from '../../../workspace/index.ts'
import { createCommandEnvironment, createRedactor } from '../../access/command-environment.ts'
import { type ForkChanges, listForkChanges } from '../../access/fork-changes.ts'
import { listKnownHomes, type OpenHome, withHome } from '../../access/home-access.ts'
import { assertNotElsewhere, listLinkedDirectories } from '../../access/linked-access.ts'
import { assertNotNew } from '../../access/running-command.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { formatCount, formatForkSize } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'

const MS_PER_SECOND = 1000
const DEFAULT_TIMEOUT_S = 600
const HEADING = ['fork', 'check', 'changes', 'shared with']

export const compare: Command = defineCommand(
  {
    name: 'compare',
    summary: 'Compare forks of this directory side by side',
    details: `One line for each fork: its changes, and the forks that change some of the same files.
With --check, the result of a command in each of them, one after another. What the check changes is discarded.
Exits with 1 if no fork passes the check.`,
    scope: 'home',
    options: {
      check: { summary: "Command line to run in each fork, such as 'npm test'", value: 'command' },
      timeout: { summary: `Time limit of each check, in seconds (${DEFAULT_TIMEOUT_S})`, value: 'seconds' },
    },
    arguments: {
      fork: {
        summary: 'Forks, or patterns such as fix-* (default: all of this directory)',
        isOptional: true,
        isList: true,
        offers: 'directory-fork',
      },
    },
    examples: [
      'coppice compare',
      "coppice compare fix-1 fix-2 --check 'npm test'",
      "coppice compare 'fix-*' --json",
    ],
  },
  (call) =>
    withHome(call, async (open) => {
      const { link, forks } = await chooseForks(open, call.argumentList('fork'))
      const changes = await listForkChanges(link, forks)
      const check = call.option('check')
      const results = check === undefined ? [] : await runChecks(call, open, { link, forks, check })
      const compared = changes.map((change, index) => ({ ...change, check: results[index] ?? null }))
      if (call.isJson) await call.output.writeValue(compared.map(toJson))
      else await printTable(call, compared)
      return check === undefined || results.some(({ exitCode }) => exitCode === 0)
        ? exitCodes.ok
        : exitCodes.failed
    }),
)

type CompareInvocation = CommandInvocation<'check' | 'timeout', 'fork'>

/** Result of a check: its exit code, and the reason if it was refused or stopped. */
interface CheckResult {
  readonly exitCode: number | null
  readonly durationMs: number
  readonly reason?: string
}

type ComparedFork = ForkChanges & { readonly check: CheckResult | null }

/**
 * Finds the named forks of one directory, or all forks of the nearest directory that has any. CommandError if there
 * are none.
 */
async function chooseForks(
  open: OpenHome,
  names: readonly string[],
): Promise<{ readonly link: LinkedDirectory; readonly forks: readonly LinkedFork[] }> {
  let missing = names
  for (const link of await listLinkedDirectories(open.home)) {
    const listed = await link.listForks()
    if (names.length === 0 && listed.length > 0) return { link, forks: sortByName(listed) }
    const unlisted = names.filter((name) => listed.every((fork) => fork.name !== name))
    const started = await Promise.all(unlisted.map((name) => link.findFork(name)))
    const all = [...listed, ...started.filter((fork) => fork !== undefined)]
    const matches = names.map((name) => findMatches(all, name))
    const forks = [...new Set(matches.flat())]
    if (forks.length === 0) continue
    missing = names.filter((_, index) => matches[index]?.length === 0)
    if (missing.length === 0) return { link, forks }
  }
  if (names.length === 0) assertNotNew(open, undefined)
  for (const name of missing) {
    assertNotNew(open, name)
    await assertNotElsewhere(open.home, name)
  }
  throw new CommandError(
    names.length === 0
      ? 'this directory has no forks; create some with: coppice exec -n 3 --fork fix -- <command>'
      : `this directory has no fork '${missing.join("', '")}'; coppice forks lists them`,
  )
}

/** Finds the fork of a name, or those that match a pattern such as `fix-*`. */
function findMatches(forks: readonly LinkedFork[], word: string): LinkedFork[] {
  return sortByName(forks.filter(({ name }) => name === word || matchesWildcard(word, name)))
}

function sortByName(forks: readonly LinkedFork[]): LinkedFork[] {
  return forks.toSorted((one, other) => one.name.localeCompare(other.name, 'en', { numeric: true }))
}

interface CheckedForks {
  readonly link: LinkedDirectory
  readonly forks: readonly LinkedFork[]
  readonly check: string
}

/** Runs the check in each fork, one after another: side by side they would slow each other down. */
async function runChecks(
  call: CompareInvocation,
  open: OpenHome,
  { link, forks, check }: CheckedForks,
): Promise<CheckResult[]> {
  const { Boundary } = await import('../../../boundary/index.ts')
  const boundary = await Boundary.open(open.home, createRedactor(open.config))
  const results: CheckResult[] = []
  for (const { name } of forks) {
    if (call.terminal.isInteractive) call.terminal.err.write(`coppice: checking ${name}\n`)
    results.push(await runCheck(call, open, boundary, { directory: link.path, fork: name, check }))
  }
  return results
}

async function runCheck(
  call: CompareInvocation,
  { path, ctx }: OpenHome,
  boundary: Boundary,
  { directory, fork, check }: { readonly directory: string; readonly fork: string; readonly check: string },
): Promise<CheckResult> {
  const { signal: _signal, ...provenance } = ctx
  const timeoutMs = (call.countOption('timeout', 'seconds') ?? DEFAULT_TIMEOUT_S) * MS_PER_SECOND
  try {
    const report = await boundary.run(
      { vault: directory, command: { shell: check }, timeoutMs },
      {
        fork,
        isTrial: true,
        ports: [],
        env: createCommandEnvironment([]).env,
        userHome: homedir(),
        hidden: listKnownHomes(path),
        signal: call.terminal.signal,
        by: provenance,
      },
    )
    return toCheckResult(report)
  } catch (error) {
    // The table shows why policy refuses the check, and in which forks.
    if (!(error instanceof ExecutionRefusal)) throw error
    return { exitCode: null, durationMs: 0, reason: error.message }
  }
}

function toCheckResult({ result }: RunReport): CheckResult {
  const { exit_code: exitCode, duration_ms: durationMs, stopped } = result
  return { exitCode, durationMs, ...(stopped !== undefined && { reason: `stopped: ${stopped}` }) }
}

function toJson({ fork, files, commits, lines, shared, check }: ComparedFork) {
  const checked = check && {
    exit_code: check.exitCode,
    duration_ms: check.durationMs,
    reason: check.reason ?? null,
  }
  return { fork: fork.name, files, commits, lines, shared, check: checked }
}

async function printTable(
  { output, terminal }: CompareInvocation,
  compared: readonly ComparedFork[],
): Promise<void> {
  const isChecked = compared.some(({ check }) => check !== null)
  const rows = [HEADING, ...compared.map((fork) => toCells(terminal, fork))]
  const shown = isChecked ? rows : rows.map(([fork = '', , ...others]) => [fork, ...others])
  for (const line of formatTable(shown)) await output.writeLine(line.trimEnd())
}

function toCells(terminal: Terminal, compared: ComparedFork): string[] {
  const { fork, shared, check } = compared
  const others = [...new Set(shared.flatMap(({ forks }) => forks))].sort()
  const overlap = others.length === 0 ? '' : `${others.join(', ')}: ${formatCount(shared.length, 'file')}`
  return [fork.name, formatCheck(terminal, check), formatForkSize(compared), overlap]
}

function formatCheck(terminal: Terminal, check: CheckResult | null): string {
  if (check === null) return ''
  const { exitCode, durationMs, reason } = check
  const time = `${(durationMs / MS_PER_SECOND).toFixed(1)} s`
  if (exitCode === 0) return applyStyle(terminal, 'green', `passed in ${time}`)
  const outcome = reason === undefined ? `exit ${exitCode ?? '-'} in ${time}` : escapeName(reason)
  return applyStyle(terminal, 'red', outcome)
}
