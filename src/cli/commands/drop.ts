import { type Command, command } from '../command.ts'
import { deleteVault } from '../delete-vault.ts'
import { CommandError } from '../errors.ts'
import { withHome } from '../home-access.ts'

export const drop: Command = command(
  {
    name: 'drop',
    summary: 'Delete a fork with all that was changed in it',
    details: 'Only a fork: for any other vault there is coppice vault delete.',
    scope: 'home',
    arguments: { fork: { summary: 'The fork', offers: 'vault' } },
    examples: ['coppice drop task-2'],
  },
  (call) =>
    withHome(call, async (open) => {
      const { name, from } = await open.home.info(call.argument('fork'))
      if (from === undefined) {
        throw new CommandError(`'${name}' is not a fork; to delete it say: coppice vault delete ${name}`)
      }
      const current = await deleteVault(open, name)
      await call.output.value(
        { deleted: name, current: current ?? null },
        `dropped ${name}, a fork of ${from.vault}`,
      )
    }),
)
