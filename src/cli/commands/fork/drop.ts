import { isMirrorName } from '../../../backends/vault/index.ts'
import { getUndoName } from '../../../workspace/index.ts'
import { deleteVault } from '../../access/delete-vault.ts'
import { type OpenHome, withHome } from '../../access/home-access.ts'
import { findLinkedFork } from '../../access/linked-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { CommandError } from '../../framework/errors.ts'

export const drop: Command = defineCommand(
  {
    name: 'drop',
    summary: 'Delete a fork with all that was changed in it',
    details: `In a directory that coppice exec was run in: the fork that is named, or was used last.
Only a fork: for any other vault there is coppice vault delete. The room it took is free after coppice gc.`,
    scope: 'home',
    arguments: {
      fork: {
        summary: 'The fork; the last used one of this directory when absent',
        isOptional: true,
        offers: 'vault',
      },
    },
    examples: ['coppice drop', 'coppice drop task-2'],
  },
  (call) =>
    withHome(call, async (open) => {
      const { name, from } = await open.home.info(await resolveForkName(open, call.optionalArgument('fork')))
      if (from === undefined) {
        throw new CommandError(`'${name}' is not a fork; to delete it say: coppice vault delete ${name}`)
      }
      const current = await deleteVault(open, name)
      const isLinked = isMirrorName(from.vault)
      if (isLinked) await deleteMirror(open, from.vault)
      const origin = isLinked ? 'a directory' : from.vault
      await call.output.writeValue(
        { deleted: name, current: current ?? null },
        `dropped ${name}, a fork of ${origin}`,
      )
    }),
)

async function resolveForkName({ home }: OpenHome, named: string | undefined): Promise<string> {
  const name = named ?? (await findLinkedFork(home, undefined))?.fork.name
  if (name !== undefined) return name
  throw new CommandError(
    'there is no fork of this directory; name a fork, coppice vault list shows which there are',
  )
}

/** What a fork of a directory began from goes with it. */
async function deleteMirror({ home }: OpenHome, mirror: string): Promise<void> {
  const names = await home.vaults()
  for (const vault of [getUndoName(mirror), mirror]) if (names.includes(vault)) await home.deleteVault(vault)
}
