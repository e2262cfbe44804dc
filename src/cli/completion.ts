import type { Home } from '../backends/vault/index.ts'
import { escapeName } from '../text/index.ts'
import { listDefaultVaults } from './access/default-vaults.ts'
import { withHome, withVault } from './access/home-access.ts'
import { listLinkedForkNames } from './access/linked-access.ts'
import { withZones } from './access/namespace-access.ts'
import { filterVisibleVaults } from './access/vault-names.ts'
import { getHelpEntry, getLoaders, isCommandGroup } from './command-registry.ts'
import type { Command } from './framework/command.ts'
import type { CommandArgument, CommandOption, CompletionSource } from './framework/command-definition.ts'
import { CommandInvocation } from './framework/command-invocation.ts'
import { listOptions } from './framework/parse-input.ts'
import type { Terminal } from './framework/terminal.ts'

/** A word that may replace the last one. */
export interface CompletionCandidate {
  readonly word: string
  readonly summary?: string
}

/** Lists candidates for the last word; `files` lets the shell complete file names. */
export async function completeWords(
  words: readonly string[],
  terminal: Terminal,
): Promise<CompletionCandidate[] | 'files'> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  const candidates = await completeLastWord(before, current, terminal)
  if (candidates === 'files') return candidates
  // The shells read one word a line, so names with control characters are left out.
  return candidates.filter(({ word }) => word.startsWith(current) && escapeName(word) === word)
}

async function completeLastWord(
  [first, ...rest]: readonly string[],
  current: string,
  terminal: Terminal,
): Promise<CompletionCandidate[] | 'files'> {
  if (first === undefined) return listCommandCandidates()
  const entry = await getLoaders().get(first)?.()
  if (entry === undefined) return []
  if (!isCommandGroup(entry)) return completeCommand(entry, rest, current, terminal)
  const [second, ...others] = rest
  if (second === undefined)
    return entry.commands.map(({ definition: { name, summary } }) => createCandidate(name, summary))
  const member = entry.commands.find(({ definition }) => definition.name === `${first} ${second}`)
  return member === undefined ? [] : completeCommand(member, others, current, terminal)
}

async function listCommandCandidates(): Promise<CompletionCandidate[]> {
  const entries = await Promise.all([...getLoaders().values()].map((load) => load()))
  return entries.map(getHelpEntry).map(({ name, summary }) => createCandidate(name, summary))
}

function createCandidate(name: string, summary: string): CompletionCandidate {
  return { word: name.slice(name.lastIndexOf(' ') + 1), summary }
}

/** Completes an option, its value or an argument after the name of a command. */
async function completeCommand(
  { definition }: Command,
  before: readonly string[],
  current: string,
  terminal: Terminal,
): Promise<CompletionCandidate[] | 'files'> {
  const options = listOptions(definition)
  const { values, argumentCount, pending, isPastOptions } = parseWords(options, before)
  if (pending === undefined && current.startsWith('-') && !isPastOptions) {
    return Object.entries(options).map(([name, { summary }]) => ({ word: `--${name}`, summary }))
  }
  const expected = pending ?? findArgumentAt(Object.values(definition.arguments ?? {}), argumentCount)
  if (expected?.choices !== undefined) return toCandidates(expected.choices)
  if (expected?.offers === undefined) return []
  if (expected.offers === 'file') return 'files'
  const call = new CommandInvocation({ options: values, arguments: new Map() }, terminal)
  return completeNames(call, expected.offers, current)
}

interface ParsedWords {
  readonly values: ReadonlyMap<string, readonly string[]>
  /** Number of arguments so far. */
  readonly argumentCount: number
  /** The option that waits for its value. */
  readonly pending: CommandOption | undefined
  readonly isPastOptions: boolean
}

function parseWords(
  options: Readonly<Record<string, CommandOption>>,
  before: readonly string[],
): ParsedWords {
  const values = new Map<string, readonly string[]>()
  let argumentCount = 0
  let pending: [string, CommandOption] | undefined
  let isPastOptions = false
  for (const word of before) {
    if (pending !== undefined) {
      values.set(pending[0], [word])
      pending = undefined
    } else if (isPastOptions || !word.startsWith('-')) argumentCount++
    else if (word === '--') isPastOptions = true
    else {
      const found = Object.entries(options).find(
        ([name, { short }]) => word === `--${name}` || word === `-${short}`,
      )
      if (found?.[1].value !== undefined) pending = found
      const [, name, value] = word.match(/^--([^=]+)=(.*)$/s) ?? []
      if (name !== undefined && value !== undefined) values.set(name, [value])
    }
  }
  return { values, argumentCount, pending: pending?.[1], isPastOptions }
}

/** Returns the argument at a position; a list takes all further words. */
function findArgumentAt(
  definitions: readonly CommandArgument[],
  position: number,
): CommandArgument | undefined {
  const last = definitions.at(-1)
  return definitions[position] ?? (last?.isList === true ? last : undefined)
}

/** List the names of vaults that commands take. */
const listers = {
  vault: async (home: Home) => filterVisibleVaults(await home.vaults()),
  fork: listDefaultVaults,
  'directory-fork': listLinkedForkNames,
}

function toCandidates(words: readonly string[]): CompletionCandidate[] {
  return words.map((word) => ({ word }))
}

/** Lists names from the home and the vault; none if either cannot be opened. */
async function completeNames(
  call: CommandInvocation,
  offer: Exclude<CompletionSource, 'file'>,
  current: string,
): Promise<CompletionCandidate[]> {
  try {
    if (offer === 'vault' || offer === 'fork' || offer === 'directory-fork') {
      return await withHome(call, async ({ home }) => toCandidates(await listers[offer](home)))
    }
    if (offer === 'fork-or-checkpoint') {
      const forks =
        call.option('vault') === undefined ? await completeNames(call, 'directory-fork', current) : []
      return forks.length > 0 ? forks : await completeNames(call, 'checkpoint', current)
    }
    if (offer === 'context') {
      return await withZones(call, async (zones) => toCandidates(await zones.contexts()))
    }
    if (offer === 'tool') return await listToolCandidates()
    return await withVault(call, async ({ vault, ctx }) => {
      if (offer === 'checkpoint') return toCandidates((await vault.checkpoints()).map(({ name }) => name))
      const directory = current.slice(0, current.lastIndexOf('/') + 1)
      const found: CompletionCandidate[] = []
      for await (const { name, type } of vault.readdir(`/${directory}`, ctx)) {
        found.push({ word: `${directory}${name}${type === 'directory' ? '/' : ''}` })
      }
      return found
    })
  } catch {
    return []
  }
}

async function listToolCandidates(): Promise<CompletionCandidate[]> {
  const { commandTools, fileTools, workspaceTools } = await import('../tools/index.ts')
  return [...fileTools, ...workspaceTools, ...commandTools].map(({ name, title }) => ({
    word: name,
    summary: title,
  }))
}
