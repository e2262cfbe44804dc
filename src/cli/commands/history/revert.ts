import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const revert: Command = defineCommand(
  {
    name: 'revert',
    summary: 'Make a file what it was in an earlier version',
    details: 'That is a change too: the versions in between stay, and can be reverted to.',
    scope: 'change',
    arguments: {
      path: { summary: 'The file', offers: 'path' },
      version: { summary: 'As coppice versions lists them' },
    },
    examples: ['coppice versions /src/cart.ts', 'coppice revert /src/cart.ts 12'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const [path, version] = [parseVaultPath(call.argument('path')), call.argument('version')]
      await vault.revert(path, version, ctx)
      await call.output.writeValue(
        { path, version },
        `${escapeName(path)} is as it was in version ${version}`,
      )
    }),
)
