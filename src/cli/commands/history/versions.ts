import { withVault } from '../../access/home-access.ts'
import { parseVaultPath } from '../../access/parse-vault-path.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { formatBytes, formatCaller, formatTime } from '../../render/format-values.ts'
import { takeFirst } from '../../render/take-first.ts'

const CALLER_COLUMN = 12
const VERSION_COLUMN = 10
const SIZE_COLUMN = 10

export const versions: Command = defineCommand(
  {
    name: 'versions',
    summary: 'List the versions of a file, newest first',
    details: 'Each line: version, time, size, caller, operation. Read one with coppice cat --rev.',
    scope: 'vault',
    options: { limit: { summary: 'List at most this many', short: 'n', value: 'count' } },
    arguments: { path: { summary: 'The file', offers: 'path' } },
    examples: ['coppice versions /src/cart.ts', 'coppice versions /src/cart.ts -n 5 --json'],
  },
  (call) =>
    withVault(call, async ({ vault }) => {
      const all = takeFirst(vault.versions(parseVaultPath(call.argument('path'))), call.countOption('limit'))
      await call.output.writeList(all, ({ version, time, size, caller, op }) =>
        [
          version.padEnd(VERSION_COLUMN),
          formatTime(time),
          formatBytes(size).padStart(SIZE_COLUMN),
          formatCaller(caller).padEnd(CALLER_COLUMN),
          op,
        ].join(' '),
      )
    }),
)
