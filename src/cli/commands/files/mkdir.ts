import { parseWritablePath } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const mkdir: Command = defineCommand(
  {
    name: 'mkdir',
    summary: 'Create directories',
    scope: 'change',
    options: { parents: { summary: 'Create missing parents; accept an existing directory', short: 'p' } },
    arguments: { paths: { summary: 'The directories', isList: true, offers: 'path' } },
    examples: ['coppice mkdir /docs', 'coppice mkdir -p /docs/guide/images'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const paths = call.argumentList('paths').map((path) => parseWritablePath(call, path))
      for (const path of paths) await vault.mkdir(path, { parents: call.has('parents') }, ctx)
      await call.output.writeValue({ made: paths })
    }),
)
