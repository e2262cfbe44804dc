import { nearest } from '../server/text/index.ts'
import type { Command, Family } from './command.ts'
import { section } from './help.ts'
import { groups, isFamily, loaders } from './registry.ts'
import { UsageError } from './usage-error.ts'

export interface Found {
  readonly entry: Command | Family
  /** What came after its name. */
  readonly rest: readonly string[]
}

/** The command that the first words name; a family if only its name was given. UsageError. */
export async function resolveCommand([first = '', ...rest]: readonly string[]): Promise<Found> {
  const load = loaders().get(first)
  if (load === undefined) throw unknown(first, [...loaders().keys()], 'coppice --help')
  const entry = await load()
  const [second, ...others] = rest
  if (!isFamily(entry) || second === undefined || second.startsWith('-')) return { entry, rest }
  const names = entry.commands.map(({ definition }) => lastWord(definition.name))
  const member = entry.commands[names.indexOf(second)]
  if (member === undefined) throw unknown(`${first} ${second}`, names, `coppice ${first} --help`)
  return { entry: member, rest: others }
}

/** What `coppice --help` prints: every command in its group. */
export async function overview(version: string): Promise<string> {
  const width = Math.max(...[...loaders().keys()].map((name) => name.length))
  const sections: string[] = []
  for (const [title, group] of Object.entries(groups)) {
    const entries = await Promise.all(Object.values(group).map((load) => load()))
    const rows = entries.map(toldOf).map(({ name, summary }) => [name.padEnd(width), summary])
    sections.push(section(title, rows))
  }
  return `coppice ${version}: one filesystem for AI agents

Usage: coppice <command> [options]

${sections.join('\n\n')}

coppice <command> --help shows its options and examples; every command has --json.
coppice --version shows the version.

Example:
  coppice tour`
}

function toldOf(entry: Command | Family): { readonly name: string; readonly summary: string } {
  return isFamily(entry) ? entry : entry.definition
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

function unknown(word: string, known: readonly string[], help: string): UsageError {
  if (word.startsWith('-'))
    return new UsageError(`options such as '${word}' come after the command; see ${help}`)
  const near = nearest(lastWord(word), known)
  const hint = near === undefined ? `known: ${known.join(', ')}; see` : `did you mean '${near}'? See`
  return new UsageError(`there is no command '${word}'; ${hint} ${help}`)
}
