import { escapeName } from '../../../text/index.ts'
import { isContentAddressed, isLinkable } from '../../../vfs/index.ts'
import { describeDevice, findDevicePath } from '../../access/device-paths.ts'
import { getVaultView, withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatBytes, formatTime } from '../../render/format-values.ts'
import { formatTable } from '../../render/table.ts'
import { at } from '../shared-options.ts'

export const stat: Command = defineCommand(
  {
    name: 'stat',
    summary: 'Show type, size, time, mode and hash of a file',
    scope: 'vault',
    options: { at },
    arguments: { path: { summary: 'File or directory', offers: 'path' } },
    examples: ['coppice stat /src/cart.ts', 'coppice stat /src/cart.ts --at before --json'],
  },
  (call) => {
    const device = findDevicePath(call, call.argument('path'))
    if (device !== undefined) return describeDevice(call, device)
    return withVault(call, async ({ vault, ctx }) => {
      const fs = getVaultView(call, vault)
      const path = parseVaultPath(call.argument('path'))
      const { type, size, mtime, mode } = await fs.stat(path, ctx)
      const target = type === 'symlink' && isLinkable(fs) ? await fs.readlink(path, ctx) : undefined
      const hash = type === 'file' && isContentAddressed(fs) ? await fs.hash(path, ctx) : undefined
      const rows = [
        ['path', escapeName(path)],
        ['type', type],
        ['size', `${formatBytes(size)} (${size})`],
        ['changed', formatTime(mtime)],
        ...(mode === null ? [] : [['mode', mode.toString(8).padStart(4, '0')]]),
        ...(target === undefined ? [] : [['leads to', escapeName(target)]]),
        ...(hash === undefined ? [] : [['sha256', hash]]),
      ]
      await call.output.writeValue(
        { path, type, size, mtime, mode, target, hash },
        formatTable(rows).join('\n'),
      )
    })
  },
)
