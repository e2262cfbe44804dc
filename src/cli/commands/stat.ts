import { shown } from '../../server/text/index.ts'
import { isContentAddressed, isLinkable } from '../../vfs/index.ts'
import { type Command, command } from '../command.ts'
import { viewOf, withVault } from '../home-access.ts'
import { table } from '../table.ts'
import { vaultPath } from '../vault-path.ts'
import { bytesText, timeText } from '../wording.ts'
import { at } from './shared-options.ts'

export const stat: Command = command(
  {
    name: 'stat',
    summary: 'Describe a file or directory: type, size, time, mode, hash',
    scope: 'vault',
    options: { at },
    arguments: { path: { summary: 'What to describe', offers: 'path' } },
    examples: ['coppice stat /src/cart.ts', 'coppice stat /src/cart.ts --at before --json'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const fs = viewOf(call, vault)
      const path = vaultPath(call.argument('path'))
      const { type, size, mtime, mode } = await fs.stat(path, ctx)
      const target = type === 'symlink' && isLinkable(fs) ? await fs.readlink(path, ctx) : undefined
      const hash = type === 'file' && isContentAddressed(fs) ? await fs.hash(path, ctx) : undefined
      const rows = [
        ['path', shown(path)],
        ['type', type],
        ['size', `${bytesText(size)} (${size})`],
        ['changed', timeText(mtime)],
        ...(mode === null ? [] : [['mode', mode.toString(8).padStart(4, '0')]]),
        ...(target === undefined ? [] : [['leads to', shown(target)]]),
        ...(hash === undefined ? [] : [['sha256', hash]]),
      ]
      await call.output.value({ path, type, size, mtime, mode, target, hash }, table(rows).join('\n'))
    }),
)
