import { parseWritablePath } from '../../access/device-paths.ts'
import { withVault } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'

export const rm: Command = defineCommand(
  {
    name: 'rm',
    summary: 'Remove files, and with -r directories',
    details: 'Removed files stay in checkpoints, forks and versions.',
    scope: 'change',
    options: { recursive: { summary: 'Remove directories and their content', short: 'r' } },
    arguments: { paths: { summary: 'Files or directories to remove', isList: true, offers: 'path' } },
    examples: ['coppice rm /notes.md', 'coppice rm -r /build', 'coppice rm -- -odd-name'],
  },
  async (call) => {
    const paths = call.argumentList('paths').map((path) => parseWritablePath(call, path))
    await withVault(call, async ({ vault, ctx }) => {
      for (const path of paths) await vault.remove(path, { recursive: call.has('recursive') }, ctx)
      await call.output.writeValue({ removed: paths })
    })
  },
)
