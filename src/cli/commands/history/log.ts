import type { FeedOptions, JournalFilter, JournalRecord, Vault } from '../../../backends/vault/index.ts'
import { escapeName } from '../../../text/index.ts'
import { VfsError } from '../../../vfs/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { applyStyle, type Terminal } from '../../framework/terminal.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { formatCaller, formatTime } from '../../render/format-values.ts'
import { takeFirst } from '../../render/take-first.ts'
import { printCommands } from './command-log.ts'

const SEQ_COLUMN = 6
const CALLER_COLUMN = 12
const OP_COLUMN = 10
/** Paths of a merge or batch that a line names. */
const PATHS_SHOWN = 3

// biome-ignore format: a list to skim, not to scroll
const operations: readonly JournalRecord['op'][] = [
  'write', 'extend', 'patch', 'create', 'mkdir', 'symlink', 'link', 'remove', 'unlink', 'release', 'rename', 'move',
  'attributes', 'xattr', 'tag', 'meta', 'revert', 'restore', 'merge', 'batch',
]

export const log: Command = defineCommand(
  {
    name: 'log',
    summary: 'Show who changed what, and when',
    details: `The newest change first: its number, time, caller, operation and path.
A merge or a batch is one entry with its paths. With --json, prints one JSON value a line.
With --follow, prints all changes, oldest first, then new ones until Ctrl-C; in JSON each has a token for --after.`,
    scope: 'vault',
    options: {
      caller: { summary: 'Only changes of this context', value: 'name' },
      op: {
        summary: 'Only this operation, alone or in a merge or batch',
        value: 'name',
        choices: operations,
      },
      since: { summary: 'Only changes after this number', value: 'number' },
      limit: { summary: 'Print at most this many', short: 'n', value: 'count' },
      'oldest-first': { summary: 'Print the oldest first' },
      inherited: { summary: 'Include changes from before the fork' },
      follow: { summary: 'Wait for new changes', short: 'f' },
      commands: { summary: 'Show the commands that ran or were refused instead' },
      after: { summary: 'With --follow: continue after this token', value: 'token' },
    },
    arguments: { path: { summary: 'Only changes at or below this path', isOptional: true, offers: 'path' } },
    examples: [
      'coppice log',
      'coppice log /src -n 20',
      'coppice log --caller alice --op remove --json',
      'coppice log --follow --json',
      'coppice log --commands -n 10',
    ],
  },
  (call) => {
    if (call.has('commands')) return printCommands(call, call.countOption('limit'))
    return withVault(call, async ({ vault }) => {
      const { output, terminal } = call
      const isLive = call.has('follow')
      const records = isLive
        ? vault.changes(createFeedOptions(call))
        : vault.journal(createJournalFilter(call))
      const limited = takeFirst<JournalRecord>(records, call.countOption('limit'))
      const path = call.optionalArgument('path')
      if (path !== undefined) await assertPathKnown(vault, parseVaultPath(path))
      await output.writeStream(limited, (record) => formatRecord(terminal, record), { isLive })
    })
  },
)

/** Throws ENOENT for a path that never existed, where an empty log would mislead. */
async function assertPathKnown(vault: Vault, path: string): Promise<void> {
  if (await vault.exists(path)) return
  for await (const _record of vault.journal({ path, inherited: true, newestFirst: true })) return
  throw new VfsError('ENOENT', path, { op: 'log' })
}

type LogInvocation = CommandInvocation<
  'caller' | 'op' | 'since' | 'oldest-first' | 'inherited' | 'after',
  'path'
>

function createJournalFilter(call: LogInvocation): JournalFilter {
  if (call.has('after')) throw new UsageError('--after needs --follow')
  const [since, op, caller] = [
    call.countOption('since'),
    call.choiceOption('op', operations),
    call.option('caller'),
  ]
  const path = call.optionalArgument('path')
  return {
    newestFirst: !call.has('oldest-first'),
    inherited: call.has('inherited'),
    ...(since !== undefined && { since }),
    ...(op !== undefined && { op }),
    ...(caller !== undefined && { caller: { kind: 'context', context: caller } }),
    ...(path !== undefined && { path: parseVaultPath(path) }),
  }
}

function createFeedOptions(call: LogInvocation): FeedOptions {
  const filters = ['caller', 'op', 'since', 'oldest-first', 'inherited'] as const
  const conflicting = filters.find((option) => call.has(option))
  if (conflicting !== undefined)
    throw new UsageError(`--follow shows every change; leave out --${conflicting}`)
  if (call.optionalArgument('path') !== undefined)
    throw new UsageError('--follow shows every change; leave out the path')
  const since = call.option('after')
  return { follow: true, signal: call.terminal.signal, ...(since !== undefined && { since }) }
}

function formatRecord(terminal: Terminal, record: JournalRecord): string {
  const { seq, time, caller, op, trace } = record
  const columns = [
    applyStyle(terminal, 'yellow', String(seq).padStart(SEQ_COLUMN)),
    formatTime(time),
    formatCaller(caller).padEnd(CALLER_COLUMN),
    op.padEnd(OP_COLUMN),
    formatPaths(record),
    ...(trace === undefined ? [] : [applyStyle(terminal, 'dim', `(${escapeName(trace)})`)]),
  ]
  return columns.join(' ')
}

function formatPaths({ path, to, paths }: JournalRecord): string {
  if (paths === undefined || paths.length === 0)
    return to === undefined ? escapeName(path) : `${escapeName(path)} -> ${escapeName(to)}`
  const named = paths.slice(0, PATHS_SHOWN).map(escapeName).join(', ')
  return paths.length > PATHS_SHOWN ? `${named}, … ${paths.length} paths` : named
}
