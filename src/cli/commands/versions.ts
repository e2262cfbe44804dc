import { type Command, command } from '../command.ts'
import { withVault } from '../home-access.ts'
import { take } from '../take.ts'
import { vaultPath } from '../vault-path.ts'
import { bytesText, callerText, timeText } from '../wording.ts'

const CALLER_COLUMN = 12
const SIZE_COLUMN = 10

export const versions: Command = command(
  {
    name: 'versions',
    summary: 'List what a file was, the newest version first',
    details: 'Each line: version, time, size, caller, operation. Read one with coppice cat --rev.',
    scope: 'vault',
    options: { limit: { summary: 'No more than this many', short: 'n', value: 'count' } },
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: ['coppice versions /src/cart.ts', 'coppice versions /src/cart.ts -n 5 --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = take(vault.versions(vaultPath(call.argument('path'))), call.count('limit'))
      await call.output.list(all, ({ version, time, size, caller, op }) =>
        [
          version.padEnd(SIZE_COLUMN),
          timeText(time),
          bytesText(size).padStart(SIZE_COLUMN),
          callerText(caller).padEnd(CALLER_COLUMN),
          op,
        ].join(' '),
      )
    }),
)
