import { basename, child, copy, type FileSystem } from '../../../vfs/index.ts'
import { parseWritablePath } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const cp: Command = defineCommand(
  {
    name: 'cp',
    summary: 'Copy a file or a directory within the vault',
    details: 'Copies directories recursively. If the target is a directory, the copy goes inside it.',
    scope: 'change',
    options: { force: { summary: 'Replace existing files', short: 'f' } },
    arguments: {
      from: { summary: 'File or directory to copy', offers: 'path' },
      to: { summary: 'Target path', offers: 'path' },
    },
    examples: ['coppice cp /plan.md /plan-2.md', 'coppice cp /src /backup'],
  },
  async (call) => {
    const from = parseWritablePath(call, call.argument('from'))
    const target = parseWritablePath(call, call.argument('to'))
    await withVault(call, async ({ vault, ctx }) => {
      const to = parseWritablePath(call, await resolveTarget(vault, from, target))
      await copy(vault, from, to, { overwrite: call.has('force') }, ctx)
      await call.output.writeValue({ from, to })
    })
  },
)

/** Returns the target, or the path inside it if it is a directory, as `cp` and `mv` do. */
export async function resolveTarget(fs: FileSystem, from: string, to: string): Promise<string> {
  if (from === to || !(await fs.exists(to))) return to
  const { type } = await fs.stat(to)
  return type === 'directory' ? child(to, basename(from)) : to
}
