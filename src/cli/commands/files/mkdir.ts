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
  async (call) => {
    const paths = call.argumentList('paths').map((path) => parseWritablePath(call, path))
    await withVault(call, async ({ vault, ctx }) => {
      for (const path of paths) await vault.mkdir(path, { parents: call.has('parents') }, ctx)
      await call.output.writeValue({ made: paths })
    })
  },
)
