import { escapeName } from '../../../text/index.ts'
import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const revert: Command = defineCommand(
  {
    name: 'revert',
    summary: 'Revert a file to an earlier version',
    details: 'The versions in between stay; a revert is a new version.',
    scope: 'change',
    arguments: {
      path: { summary: 'The file', offers: 'path' },
      version: { summary: 'Version, from coppice versions' },
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
