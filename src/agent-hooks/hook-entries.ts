import type { ConfigTable, HookProgram } from './hook-program.ts'

/** A command that `createHookCommands` made. */
const OWN_COMMAND = /coppice(?:\.js)?['"]? hook (?:claude|codex|cursor|gemini)(?:\s|$)/

const WORKTREE_OPTION = '--worktree'

/** The command lines that hooks of Coppice run. */
export interface HookCommands {
  /** Records an event. */
  readonly record: string
  /** Serves worktrees; undefined if the program creates them itself. */
  readonly worktree?: string | undefined
}

/** Choices for the commands of hooks. */
export interface HookChoices {
  /** The home, if it is not that of the user. */
  readonly home?: string | undefined
  /** Serves worktrees by forks. */
  readonly worktrees?: boolean
}

/**
 * Creates the command lines of hooks. The one that records always succeeds: a program that is gone, or a home that cannot
 * be opened, must not stop an agent. Where a worktree fails, the agent reports why.
 * @param words the program of Coppice.
 */
export function createHookCommands(
  words: readonly string[],
  program: HookProgram,
  { home, worktrees = false }: HookChoices = {},
): HookCommands {
  const homeOption = home === undefined ? '' : ` --home ${quoteWord(home)}`
  const command = `${words.map(quoteWord).join(' ')} hook ${program.name}${homeOption}`
  return { record: `${command} || :`, ...(worktrees && { worktree: `${command} ${WORKTREE_OPTION}` }) }
}

/** Returns a configuration with the hooks of Coppice, which run these commands. Earlier ones are replaced. */
export function addHooks(
  config: ConfigTable,
  program: HookProgram,
  { record, worktree }: HookCommands,
): ConfigTable {
  const cleaned = removeHooks(config)
  const hooks = toTable(cleaned['hooks'])
  const add = (events: readonly string[], command: string) =>
    events.map((event) => [event, [...toList(hooks[event]), program.createEntry(event, command)]])
  const added = [
    ...add(program.events, record),
    ...(worktree === undefined ? [] : add(program.worktreeEvents ?? [], worktree)),
  ]
  return { ...program.base, ...cleaned, hooks: { ...hooks, ...Object.fromEntries(added) } }
}

/**
 * Returns a configuration without the hooks of Coppice, and without the members that only they needed.
 * @param before the configuration before the installation, if there was any; empty lists of it stay.
 */
export function removeHooks(config: ConfigTable, before: ConfigTable = {}): ConfigTable {
  const { hooks, ...others } = config
  if (!isTable(hooks) || findHookCommands(config) === undefined) return config
  const known = toTable(before['hooks'])
  const kept = Object.entries(hooks).flatMap(([event, entries]) => {
    if (!Array.isArray(entries)) return [[event, entries]]
    const list = entries.flatMap(removeFromEntry)
    return list.length > 0 || entries.length === 0 || event in known ? [[event, list]] : []
  })
  return kept.length > 0 || 'hooks' in before ? { ...config, hooks: Object.fromEntries(kept) } : others
}

/** Returns the commands of Coppice in a configuration; undefined if there are none. */
export function findHookCommands(config: ConfigTable): HookCommands | undefined {
  const own = listCommands(config).filter(isOwnCommand)
  const [record] = own.filter((command) => !servesWorktrees(command))
  const [worktree] = own.filter(servesWorktrees)
  const found = record ?? worktree
  return found === undefined ? undefined : { record: found, worktree }
}

function servesWorktrees(command: string): boolean {
  return command.endsWith(` ${WORKTREE_OPTION}`)
}

function listCommands(config: ConfigTable): unknown[] {
  const entries = Object.values(toTable(config['hooks'])).flatMap(toList)
  return entries.flatMap((entry) => {
    const table = toTable(entry)
    return [table, ...toList(table['hooks']).map(toTable)].map(({ command }) => command)
  })
}

/** Removes the commands of Coppice from an entry of an event. Returns no entry if it had no others. */
function removeFromEntry(entry: unknown): unknown[] {
  const table = toTable(entry)
  if (isOwnCommand(table['command'])) return []
  const hooks = table['hooks']
  if (!Array.isArray(hooks)) return [entry]
  const kept = hooks.filter((hook) => !isOwnCommand(toTable(hook)['command']))
  if (kept.length === hooks.length) return [entry]
  return kept.length === 0 ? [] : [{ ...table, hooks: kept }]
}

function isOwnCommand(command: unknown): command is string {
  return typeof command === 'string' && OWN_COMMAND.test(command)
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function toTable(value: unknown): ConfigTable {
  return isTable(value) ? value : {}
}

function isTable(value: unknown): value is ConfigTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function quoteWord(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
