import { escapeName } from '../../../text/index.ts'
import { formatDamage } from '../../access/damaged-store.ts'
import { withHome } from '../../access/home-access.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { exitCodes, formatErrorLine } from '../../framework/errors.ts'
import { formatCount } from '../../render/format-values.ts'
import { withProgress } from '../../render/progress.ts'

export const fsck: Command = defineCommand(
  {
    name: 'fsck',
    summary: 'Check the stored data of the home for damage',
    details:
      'Reads all stored data, and names each damaged object with its files. The exit code is 1 if anything is damaged.',
    scope: 'home',
    examples: ['coppice fsck', 'coppice fsck --json'],
  },
  (call) =>
    withHome(call, async ({ home, path, label }) => {
      const { terminal, output } = call
      const report = await withProgress(terminal, 'fsck', 'object', (onProgress) =>
        home.fsck({ onProgress, signal: terminal.signal }),
      )
      const { checked, damaged, orphanedSegments } = report
      const lines = damaged.flatMap(({ kind, id, detail, places = [] }) => [
        `damaged ${kind} ${id}: ${detail}`,
        ...places.map((location) => `  in ${escapeName(location)}`),
      ])
      for (const path of orphanedSegments)
        lines.push(`unused segment ${escapeName(path)}: coppice gc removes it`)
      const verdict = damaged.length === 0 ? 'no damage' : `${formatCount(damaged.length, 'object')} damaged`
      await output.writeValue(
        report,
        [...lines, `checked ${formatCount(checked, 'object')}: ${verdict}`].join('\n'),
      )
      if (damaged.length === 0) return exitCodes.ok
      const isShared = label !== path
      const next = `the home ${label} is damaged; restore it from a backup of the database`
      terminal.err.write(formatErrorLine(isShared ? next : await formatDamage(path)))
      return exitCodes.failed
    }),
)
