import { type Command, command } from '../command.ts'
import { changedPath } from '../device-paths.ts'
import { withVault } from '../home-access.ts'

export const rm: Command = command(
  {
    name: 'rm',
    summary: 'Remove files, and with -r directories',
    details: 'What was there before stays in checkpoints, forks and versions.',
    scope: 'change',
    options: { recursive: { summary: 'Directories with all they hold', short: 'r' } },
    arguments: { paths: { summary: 'What to remove', isList: true, offers: 'path' } },
    examples: ['coppice rm /notes.md', 'coppice rm -r /build', 'coppice rm -- -odd-name'],
  },
  (call) =>
    withVault(call, async ({ vault, ctx }) => {
      const paths = call.list('paths').map((path) => changedPath(call, path))
      for (const path of paths) await vault.remove(path, { recursive: call.has('recursive') }, ctx)
      await call.output.value({ removed: paths })
    }),
)
