import { findAllNearest } from '../text/index.ts'
import { firstCommands, getHelpEntry, getLoaders, helpSections, isCommandGroup } from './command-registry.ts'
import type { Command, CommandGroup } from './framework/command.ts'
import { UsageError } from './framework/usage-error.ts'
import { formatSection } from './render/help.ts'

const MAX_SUGGESTIONS = 3
/** Commands, also those of groups, by the words that other programs have for them. */
const SYNONYMS: readonly (readonly [words: string, commands: readonly string[]])[] = [
  ['run start sh', ['exec']],
  ['shell attach join', ['enter']],
  ['list ls status st branch', ['list', 'forks', 'ls']],
  ['delete remove rm drop del discard', ['delete', 'remove', 'drop', 'rm']],
  ['rollback reset back', ['restore', 'apply --undo', 'undo']],
  ['show view', ['show', 'diff', 'cat']],
  ['add create new make init', ['add', 'create', 'install', 'save', 'exec', 'vault create']],
  ['clean', ['prune', 'gc']],
  ['install', ['hooks install']],
  ['stop', ['kill']],
]
/** Options of the program itself. */
const PROGRAM_OPTIONS: readonly string[] = ['--help', '--version']

export interface ResolvedCommand {
  readonly entry: Command | CommandGroup
  /** Arguments after the name. */
  readonly rest: readonly string[]
}

/**
 * Loads the command that the first words name, or the group if none of its commands is named. UsageError if there is
 * none.
 */
export async function resolveCommand([first = '', ...rest]: readonly string[]): Promise<ResolvedCommand> {
  const load = getLoaders().get(first)
  if (load === undefined) throw createUnknownCommandError(first, [...getLoaders().keys()], 'coppice --help')
  const entry = await load()
  const [second, ...others] = rest
  if (second === undefined || second.startsWith('-')) return { entry, rest }
  if (!isCommandGroup(entry)) {
    await assertSingular(first, second)
    return { entry, rest }
  }
  const names = listMembers(entry)
  const member = entry.commands[names.indexOf(second)]
  if (member === undefined)
    throw createUnknownCommandError(`${first} ${second}`, names, `coppice ${first} --help`)
  return { entry: member, rest: others }
}

/** Formats `coppice --help`: the commands for a first day. */
export async function formatOverview(version: string): Promise<string> {
  const loaders = getLoaders()
  const entries = await Promise.all(firstCommands.flatMap((name) => loaders.get(name)?.() ?? []))
  const rows = entries.map(getHelpEntry).map(({ name, summary }) => [name, summary])
  return formatHelpPage(
    version,
    formatSection('Commands', rows),
    `coppice help --all lists all ${loaders.size} commands.`,
  )
}

/** Formats `coppice help --all`: every command in its section. */
export async function formatAllCommands(version: string): Promise<string> {
  const width = Math.max(...[...getLoaders().keys()].map((name) => name.length))
  const sections: string[] = []
  for (const [title, group] of Object.entries(helpSections)) {
    const entries = await Promise.all(Object.values(group).map((load) => load()))
    const rows = entries.map(getHelpEntry).map(({ name, summary }) => [name.padEnd(width), summary])
    sections.push(formatSection(title, rows))
  }
  return formatHelpPage(version, sections.join('\n\n'), 'coppice --help lists those to start with.')
}

function formatHelpPage(version: string, commands: string, more: string): string {
  return `coppice ${version}: one filesystem for AI agents

Usage: coppice <command> [options]

${commands}

${more}
coppice <command> --help shows its options and examples; every command has --json.
coppice --version shows the version.

Examples:
  coppice tour
  coppice exec -- npm test`
}

/** Throws UsageError for `hook install`, where the group `hooks` has that command. */
async function assertSingular(first: string, second: string): Promise<void> {
  const group = await getLoaders().get(`${first}s`)?.()
  if (group === undefined || !isCommandGroup(group) || !listMembers(group).includes(second)) return
  const meant = `${group.name} ${second}`
  throw new UsageError(
    `there is no command '${first} ${second}'; did you mean '${meant}'? See coppice ${meant} --help`,
  )
}

function listMembers({ commands }: CommandGroup): string[] {
  return commands.map(({ definition }) => getLastWord(definition.name))
}

function getLastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

function createUnknownCommandError(word: string, names: readonly string[], help: string): UsageError {
  const last = getLastWord(word).toLowerCase()
  const [, synonyms = []] = SYNONYMS.find(([words]) => words.split(' ').includes(last)) ?? []
  const meant = synonyms.filter((command) => names.includes(command.replace(/ .*/, '')))
  const known = word.startsWith('-') ? PROGRAM_OPTIONS : [...names, 'help']
  const near = meant.length > 0 ? meant : findAllNearest(last, known)
  const shown = near.slice(0, MAX_SUGGESTIONS).map((name) => `'${name}'`)
  if (word.startsWith('-') && shown.length === 0)
    return new UsageError(`options such as '${word}' come after the command; see ${help}`)
  const hint = shown.length === 0 ? 'see' : `did you mean ${shown.join(' or ')}? See`
  return new UsageError(`there is no command '${word}'; ${hint} ${help}`)
}
