import { move } from '../../../vfs/index.ts'
import { parseWritablePath } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { resolveTarget } from './cp.ts'

export const mv: Command = defineCommand(
  {
    name: 'mv',
    summary: 'Move or rename a file or directory in a vault',
    details: 'If the target is a directory, the source moves inside it.',
    scope: 'change',
    options: { force: { summary: 'Replace an existing file', short: 'f' } },
    arguments: {
      from: { summary: 'File or directory to move', offers: 'path' },
      to: { summary: 'Target path', offers: 'path' },
    },
    examples: ['coppice mv /plan.md /docs/plan.md', 'coppice mv /old /new --force'],
  },
  async (call) => {
    const from = parseWritablePath(call, call.argument('from'))
    const target = parseWritablePath(call, call.argument('to'))
    await withVault(call, async ({ vault, ctx }) => {
      const to = parseWritablePath(call, await resolveTarget(vault, from, target))
      await move(vault, from, to, { overwrite: call.has('force') }, ctx)
      await call.output.writeValue({ from, to })
    })
  },
)
