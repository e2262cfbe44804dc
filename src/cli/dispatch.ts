import { findNearest } from '../text/index.ts'
import { getLoaders, helpSections, isCommandGroup } from './command-registry.ts'
import type { Command, CommandGroup } from './framework/command.ts'
import { UsageError } from './framework/usage-error.ts'
import { formatSection } from './render/help.ts'

export interface ResolvedCommand {
  readonly entry: Command | CommandGroup
  /** What came after its name. */
  readonly rest: readonly string[]
}

/** The command that the first words name; a family if only its name was given. UsageError. */
export async function resolveCommand([first = '', ...rest]: readonly string[]): Promise<ResolvedCommand> {
  const load = getLoaders().get(first)
  if (load === undefined) throw createUnknownCommandError(first, [...getLoaders().keys()], 'coppice --help')
  const entry = await load()
  const [second, ...others] = rest
  if (!isCommandGroup(entry) || second === undefined || second.startsWith('-')) return { entry, rest }
  const names = entry.commands.map(({ definition }) => getLastWord(definition.name))
  const member = entry.commands[names.indexOf(second)]
  if (member === undefined)
    throw createUnknownCommandError(`${first} ${second}`, names, `coppice ${first} --help`)
  return { entry: member, rest: others }
}

/** What `coppice --help` prints: every command in its group. */
export async function formatOverview(version: string): Promise<string> {
  const width = Math.max(...[...getLoaders().keys()].map((name) => name.length))
  const sections: string[] = []
  for (const [title, group] of Object.entries(helpSections)) {
    const entries = await Promise.all(Object.values(group).map((load) => load()))
    const rows = entries.map(getHelpEntry).map(({ name, summary }) => [name.padEnd(width), summary])
    sections.push(formatSection(title, rows))
  }
  return `coppice ${version}: one filesystem for AI agents

Usage: coppice <command> [options]

${sections.join('\n\n')}

coppice <command> --help shows its options and examples; every command has --json.
coppice --version shows the version.

Example:
  coppice tour`
}

function getHelpEntry(entry: Command | CommandGroup): { readonly name: string; readonly summary: string } {
  return isCommandGroup(entry) ? entry : entry.definition
}

function getLastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

function createUnknownCommandError(word: string, known: readonly string[], help: string): UsageError {
  if (word.startsWith('-'))
    return new UsageError(`options such as '${word}' come after the command; see ${help}`)
  const near = findNearest(getLastWord(word), known)
  const hint = near === undefined ? `known: ${known.join(', ')}; see` : `did you mean '${near}'? See`
  return new UsageError(`there is no command '${word}'; ${hint} ${help}`)
}
