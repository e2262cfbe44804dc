import { type Home, isMirrorName } from '../../../backends/vault/index.ts'
import { matchesWildcard } from '../../../workspace/index.ts'
import { assertIdle, type DroppedFork, dropFork } from '../../access/drop-forks.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork, listLinkedForkNames, type OpenLinkedFork } from '../../access/linked-access.ts'
import { assertForkOrVault, assertNotNew } from '../../access/running-command.ts'
import { filterUserVaults } from '../../access/vault-names.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { confirm } from '../../render/confirm.ts'
import { formatCount } from '../../render/format-values.ts'

const WILDCARD = /[*?]/

export const drop: Command = defineCommand(
  {
    name: 'drop',
    summary: 'Delete forks and their changes',
    details: `Without a name, deletes the fork of this directory used last; asks first if it has changes that were not applied.
Names may have wildcards: they match forks of this directory, or else forks of vaults, and are asked about too.
Other vaults are deleted with coppice vault delete.
coppice gc frees the space.`,
    scope: 'home',
    options: { force: { summary: 'Do not ask', short: 'f' } },
    arguments: {
      fork: {
        summary: 'Forks, or patterns such as fix-* (default: the fork of this directory used last)',
        isOptional: true,
        isList: true,
        offers: 'fork',
      },
    },
    examples: ['coppice drop', 'coppice drop task-2 task-3', "coppice drop 'fix-*'"],
  },
  (call) =>
    withHome(call, async (open) => {
      const names = await chooseForks(call, open)
      if (names === undefined) {
        await call.output.writeValue({ deleted: null }, 'nothing was dropped')
        return exitCodes.failed
      }
      const dropped: DroppedFork[] = []
      for (const name of names) dropped.push(await dropFork(open, name))
      await printDropped(call, dropped)
      return exitCodes.ok
    }),
)

type DropInvocation = CommandInvocation<'force', 'fork'>

/** Returns the names of the forks to delete; undefined if the person declines. */
async function chooseForks(call: DropInvocation, open: OpenHome): Promise<string[] | undefined> {
  const words = call.argumentList('fork')
  if (words.length === 0) {
    const linked = await requireLinkedFork(open)
    return (await confirmDrop(call, linked)) ? [linked.fork.name] : undefined
  }
  const names = new Set((await Promise.all(words.map((word) => matchForks(open, word)))).flat())
  if (!words.some((word) => WILDCARD.test(word)) || call.has('force')) return [...names]
  return (await confirmMatches(call, [...names])) ? [...names] : undefined
}

/**
 * Returns the forks that match a pattern: those that `coppice forks` lists, else those of vaults. Never one of another
 * directory, whose work nobody sees here. CommandError if there are none. A plain name is returned as it is.
 */
async function matchForks(open: OpenHome, word: string): Promise<string[]> {
  const { home } = open
  if (!WILDCARD.test(word)) {
    assertIdle(open, word)
    await assertForkOrVault(open, word)
    return [word]
  }
  const isMatch = (name: string) => matchesWildcard(word, name)
  const here = (await listLinkedForkNames(home)).filter(isMatch).sort()
  const forks = here.length > 0 ? here : await listVaultForks(home, isMatch)
  if (forks.length === 0) throw new CommandError(`no fork matches '${word}'; list them with: coppice forks`)
  return forks
}

/** Lists the forks of vaults with some names. */
async function listVaultForks(home: Home, isMatch: (name: string) => boolean): Promise<string[]> {
  const matching = filterUserVaults(await home.vaults()).filter(isMatch)
  const infos = await Promise.all(matching.map((name) => home.info(name)))
  return infos.filter(({ from }) => from !== undefined && !isMirrorName(from.vault)).map(({ name }) => name)
}

async function confirmMatches({ terminal }: DropInvocation, names: readonly string[]): Promise<boolean> {
  const what = `${formatCount(names.length, 'fork')}: ${names.join(', ')}`
  if (terminal.canAsk) return confirm(terminal, `Drop ${what}?`, false)
  throw new CommandError(`this would drop ${what}; do it with --force`)
}

async function printDropped(call: DropInvocation, dropped: readonly DroppedFork[]): Promise<void> {
  const names = dropped.map(({ name }) => name)
  const [only] = names
  const lines = dropped.map(({ name, from }) => `dropped ${name}, a fork of ${from ?? 'a directory'}`)
  const current = dropped.at(-1)?.current ?? null
  await call.output.writeValue({ deleted: names.length === 1 ? only : names, current }, lines.join('\n'))
}

async function requireLinkedFork(open: OpenHome): Promise<OpenLinkedFork> {
  const linked = await findLinkedFork(open.home, undefined)
  if (linked !== undefined) return linked
  assertNotNew(open, undefined)
  throw new CommandError('this directory has no fork; name one from coppice vault list')
}

/**
 * Asks whether to delete a fork if it has changes that were not applied. CommandError if there is no terminal to ask
 * on.
 */
async function confirmDrop(
  call: DropInvocation,
  { link, fork: { name }, fork }: OpenLinkedFork,
): Promise<boolean> {
  const changes = call.has('force') ? 0 : (await link.listChanges(fork)).length
  if (changes === 0) return true
  const what = `${formatCount(changes, 'change')} that ${changes === 1 ? 'was' : 'were'} not applied`
  if (call.terminal.canAsk) return confirm(call.terminal, `Drop ${name} with ${what}?`, false)
  const them = changes === 1 ? 'it' : 'them'
  const next = `keep ${them} with coppice apply ${name}, or delete ${them} with coppice drop ${name}`
  throw new CommandError(`${name} has ${what}; ${next}`)
}
