import type { ConfigTable, HookProgram } from './hook-program.ts'

/** A command that `createHookCommand` made. */
const OWN_COMMAND = /coppice(?:\.js)?['"]? hook (?:claude|codex|cursor|gemini)(?:\s|$)/

/**
 * Creates the command line of a hook. The line always succeeds: a program that is gone, or a home that cannot be opened,
 * must not stop an agent.
 */
export function createHookCommand(words: readonly string[], program: HookProgram, home?: string): string {
  const homeOption = home === undefined ? '' : ` --home ${quoteWord(home)}`
  return `${words.map(quoteWord).join(' ')} hook ${program.name}${homeOption} || :`
}

/** Returns a configuration with the hooks of Coppice, each of which runs the command. Earlier ones are replaced. */
export function addHooks(config: ConfigTable, program: HookProgram, command: string): ConfigTable {
  const cleaned = removeHooks(config)
  const hooks = toTable(cleaned['hooks'])
  const added = program.events.map((event) => [
    event,
    [...toList(hooks[event]), program.createEntry(event, command)],
  ])
  return { ...program.base, ...cleaned, hooks: { ...hooks, ...Object.fromEntries(added) } }
}

/**
 * Returns a configuration without the hooks of Coppice, and without the members that only they needed.
 * @param before the configuration before the installation, if there was any; empty lists of it stay.
 */
export function removeHooks(config: ConfigTable, before: ConfigTable = {}): ConfigTable {
  const { hooks, ...others } = config
  if (!isTable(hooks) || findHookCommand(config) === undefined) return config
  const known = toTable(before['hooks'])
  const kept = Object.entries(hooks).flatMap(([event, entries]) => {
    if (!Array.isArray(entries)) return [[event, entries]]
    const list = entries.flatMap(removeFromEntry)
    return list.length > 0 || entries.length === 0 || event in known ? [[event, list]] : []
  })
  return kept.length > 0 || 'hooks' in before ? { ...config, hooks: Object.fromEntries(kept) } : others
}

/** Returns the command of Coppice in a configuration; undefined if there is none. */
export function findHookCommand(config: ConfigTable): string | undefined {
  const entries = Object.values(toTable(config['hooks'])).flatMap(toList)
  const commands = entries.flatMap((entry) => {
    const table = toTable(entry)
    return [table, ...toList(table['hooks']).map(toTable)].map(({ command }) => command)
  })
  return commands.find((command) => isOwnCommand(command))
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
