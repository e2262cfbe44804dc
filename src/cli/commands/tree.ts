import { shown } from '../../server/text/index.ts'
import { tree as drawTree } from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { viewOf, withVault } from '../home-access.ts'
import { vaultPath } from '../vault-path.ts'
import { at } from './shared-options.ts'

export const tree: Command = command(
  {
    name: 'tree',
    summary: 'Draw a directory with all below it',
    details: 'With --json a list of path, type and size.',
    scope: 'vault',
    options: { depth: { summary: 'No deeper than this', short: 'd', value: 'levels' }, at },
    arguments: {
      path: { summary: 'Where to start; the root when absent', isOptional: true, offers: 'path' },
    },
    examples: ['coppice tree', 'coppice tree /src --depth 2', 'coppice tree --at before'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const fs = viewOf(call, vault)
      const path = vaultPath(call.given('path') ?? '/')
      const maxDepth = call.count('depth')
      const depth = maxDepth === undefined ? {} : { maxDepth }
      if (!call.isJson) {
        await call.output.line(await drawTree(fs, path, { ...depth, formatName: shown }, ctx))
        return
      }
      await fs.stat(path, ctx)
      const entries = fs.walk(path, { includeDirs: true, ...depth }, ctx)
      await call.output.list(
        entries,
        () => '',
        ({ path: place, stat: { type, size } }) => ({ path: place, type, size }),
      )
    }),
)
