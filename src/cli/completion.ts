import { shown } from '../server/text/index.ts'
import { optionsOf } from './arguments.ts'
import { Call } from './call.ts'
import type { Command, Family } from './command.ts'
import type { Argument, Offer, Option } from './definition.ts'
import { withHome, withVault } from './home-access.ts'
import { withZones } from './namespace-access.ts'
import { isFamily, loaders } from './registry.ts'
import type { Terminal } from './terminal.ts'

/** A word the shell may put in place of the last one. */
export interface Candidate {
  readonly word: string
  readonly summary?: string
}

/** What could stand in place of the last word; `files` leaves it to the shell, which knows this machine's files. */
export async function complete(words: readonly string[], terminal: Terminal): Promise<Candidate[] | 'files'> {
  const [before, current] = [words.slice(0, -1), words.at(-1) ?? '']
  const offered = await offerFor(before, current, terminal)
  if (offered === 'files') return offered
  // A word with a line end in it cannot be told to a shell.
  return offered.filter(({ word }) => word.startsWith(current) && shown(word) === word)
}

async function offerFor(
  [first, ...rest]: readonly string[],
  current: string,
  terminal: Terminal,
): Promise<Candidate[] | 'files'> {
  if (first === undefined) return firstWords()
  const entry = await loaders().get(first)?.()
  if (entry === undefined) return []
  if (!isFamily(entry)) return offerOf(entry, rest, current, terminal)
  const [second, ...others] = rest
  if (second === undefined)
    return entry.commands.map(({ definition: { name, summary } }) => candidate(name, summary))
  const member = entry.commands.find(({ definition }) => definition.name === `${first} ${second}`)
  return member === undefined ? [] : offerOf(member, others, current, terminal)
}

async function firstWords(): Promise<Candidate[]> {
  const entries = await Promise.all([...loaders().values()].map((load) => load()))
  return entries.map(toldOf).map(({ name, summary }) => candidate(name, summary))
}

function toldOf(entry: Command | Family): { readonly name: string; readonly summary: string } {
  return isFamily(entry) ? entry : entry.definition
}

function candidate(name: string, summary: string): Candidate {
  return { word: name.slice(name.lastIndexOf(' ') + 1), summary }
}

/** After the name of a command: an option, the value of one, or an argument. */
async function offerOf(
  { definition }: Command,
  before: readonly string[],
  current: string,
  terminal: Terminal,
): Promise<Candidate[] | 'files'> {
  const options = optionsOf(definition)
  const { values, words, pending, isPastOptions } = readWords(options, before)
  if (pending === undefined && current.startsWith('-') && !isPastOptions) {
    return Object.entries(options).map(([name, { summary }]) => ({ word: `--${name}`, summary }))
  }
  const expected = pending ?? argumentAt(Object.values(definition.arguments ?? {}), words)
  if (expected?.choices !== undefined) return expected.choices.map((word) => ({ word }))
  if (expected?.offers === undefined) return []
  if (expected.offers === 'file') return 'files'
  const call = new Call({ options: values, arguments: new Map() }, terminal)
  return offersOf(call, expected.offers, current)
}

interface WordsSoFar {
  readonly values: ReadonlyMap<string, readonly string[]>
  /** How many arguments are there already. */
  readonly words: number
  /** The option that waits for its value. */
  readonly pending: Option | undefined
  readonly isPastOptions: boolean
}

function readWords(options: Readonly<Record<string, Option>>, before: readonly string[]): WordsSoFar {
  const values = new Map<string, readonly string[]>()
  let words = 0
  let pending: [string, Option] | undefined
  let isPastOptions = false
  for (const word of before) {
    if (pending !== undefined) {
      values.set(pending[0], [word])
      pending = undefined
    } else if (isPastOptions || !word.startsWith('-')) words++
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
  return { values, words, pending: pending?.[1], isPastOptions }
}

/** The argument a word at this place belongs to; a list takes all that follow. */
function argumentAt(definitions: readonly Argument[], place: number): Argument | undefined {
  const last = definitions.at(-1)
  return definitions[place] ?? (last?.isList === true ? last : undefined)
}

/** Names from the home and the vault. A home or vault that cannot be opened offers nothing. */
async function offersOf(call: Call, offer: Exclude<Offer, 'file'>, current: string): Promise<Candidate[]> {
  try {
    if (offer === 'vault') {
      return await withHome(call, async ({ home }) => (await home.vaults()).map((word) => ({ word })))
    }
    if (offer === 'context') {
      return await withZones(call, async (zones) => (await zones.contexts()).map((word) => ({ word })))
    }
    if (offer === 'tool') return await knownTools()
    return await withVault(call, async ({ vault, ctx }) => {
      if (offer === 'checkpoint') return (await vault.checkpoints()).map(({ name }) => ({ word: name }))
      const directory = current.slice(0, current.lastIndexOf('/') + 1)
      const found: Candidate[] = []
      for await (const { name, type } of vault.readdir(`/${directory}`, ctx)) {
        found.push({ word: `${directory}${name}${type === 'directory' ? '/' : ''}` })
      }
      return found
    })
  } catch {
    return []
  }
}

async function knownTools(): Promise<Candidate[]> {
  const { commandTools, fileTools, workspaceTools } = await import('../tools/index.ts')
  return [...fileTools, ...workspaceTools, ...commandTools].map(({ name, title }) => ({
    word: name,
    summary: title,
  }))
}
