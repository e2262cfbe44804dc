import { escapeName } from '../../../text/index.ts'
import { tree as drawTree } from '../../../vfs/index.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { at } from '../shared-options.ts'

export const tree: Command = defineCommand(
  {
    name: 'tree',
    summary: 'Draw a directory as a tree',
    details: 'With --json, prints a list of path, type and size.',
    scope: 'vault',
    options: { depth: { summary: 'Maximum depth', short: 'd', value: 'levels' }, at },
    arguments: {
      path: { summary: 'Directory to draw (default: the root)', isOptional: true, offers: 'path' },
    },
    examples: ['coppice tree', 'coppice tree /src --depth 2', 'coppice tree --at before'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const fs = getVaultView(call, vault)
      const path = parseVaultPath(call.optionalArgument('path') ?? '/')
      const maxDepth = call.countOption('depth')
      const depth = maxDepth === undefined ? {} : { maxDepth }
      if (!call.isJson) {
        await call.output.writeLine(await drawTree(fs, path, { ...depth, formatName: escapeName }, ctx))
        return
      }
      await fs.stat(path, ctx)
      const entries = fs.walk(path, { includeDirs: true, ...depth }, ctx)
      await call.output.writeList(
        entries,
        () => '',
        ({ path, stat: { type, size } }) => ({ path, type, size }),
      )
    }),
)
