import { isMirrorName } from '../../../backends/vault/index.ts'
import { getUndoName } from '../../../workspace/index.ts'
import { deleteVault } from '../../access/delete-vault.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork, type OpenLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { CommandError, exitCodes } from '../../framework/errors.ts'
import { confirm } from '../../render/confirm.ts'
import { formatCount } from '../../render/format-values.ts'

export const drop: Command = defineCommand(
  {
    name: 'drop',
    summary: 'Delete a fork and its changes',
    details: `Without a name, deletes the fork of this directory used last; asks first if it has changes that were not applied.
Other vaults are deleted with coppice vault delete. coppice gc frees the space.`,
    scope: 'home',
    options: { force: { summary: 'Do not ask about changes that were not applied', short: 'f' } },
    arguments: {
      fork: {
        summary: 'The fork (default: the one of this directory used last)',
        isOptional: true,
        offers: 'vault',
      },
    },
    examples: ['coppice drop', 'coppice drop task-2'],
  },
  (call) =>
    withHome(call, async (open) => {
      const named = call.optionalArgument('fork')
      const linked = named === undefined ? await requireLinkedFork(open) : undefined
      if (linked !== undefined && !(await confirmDrop(call, linked))) {
        await call.output.writeValue({ deleted: null }, 'nothing was dropped')
        return exitCodes.failed
      }
      const { name, from } = await open.home.info(named ?? linked?.fork.name ?? '')
      if (from === undefined) {
        throw new CommandError(`'${name}' is not a fork; delete it with: coppice vault delete ${name}`)
      }
      const current = await deleteVault(open, name)
      const isLinked = isMirrorName(from.vault)
      if (isLinked) await deleteMirror(open, from.vault)
      const origin = isLinked ? 'a directory' : from.vault
      await call.output.writeValue(
        { deleted: name, current: current ?? null },
        `dropped ${name}, a fork of ${origin}`,
      )
      return exitCodes.ok
    }),
)

async function requireLinkedFork({ home }: OpenHome): Promise<OpenLinkedFork> {
  const linked = await findLinkedFork(home, undefined)
  if (linked !== undefined) return linked
  throw new CommandError('this directory has no fork; name one from coppice vault list')
}

/** Asks before it deletes changes that were not applied. CommandError if there is no terminal to ask on. */
async function confirmDrop(
  call: CommandInvocation<'force', 'fork'>,
  { link, fork: { name }, fork }: OpenLinkedFork,
): Promise<boolean> {
  const changes = call.has('force') ? 0 : (await link.listChanges(fork)).length
  if (changes === 0) return true
  const what = `${formatCount(changes, 'change')} that ${changes === 1 ? 'was' : 'were'} not applied`
  if (call.terminal.canAsk) return confirm(call.terminal, `Drop ${name} with ${what}?`, false)
  const next = `keep them with coppice apply ${name}, or delete them with coppice drop ${name}`
  throw new CommandError(`${name} has ${what}; ${next}`)
}

/** Deletes the vault that mirrors the directory of a fork, and its undo record. */
async function deleteMirror({ home }: OpenHome, mirror: string): Promise<void> {
  const names = await home.vaults()
  for (const vault of [getUndoName(mirror), mirror]) if (names.includes(vault)) await home.deleteVault(vault)
}
