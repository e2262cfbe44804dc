import { type Command, command } from '../command.ts'
import { damageText } from '../damaged-store.ts'
import { errorLine, exitCodes } from '../errors.ts'
import { withHome } from '../home-access.ts'
import { withProgress } from '../progress.ts'
import { counted } from '../wording.ts'

export const fsck: Command = command(
  {
    name: 'fsck',
    summary: 'Check that everything stored is as it was written',
    details:
      'Reads every page and blob of the home and names each that is damaged; exit code 1 if there is one.',
    scope: 'home',
    examples: ['coppice fsck', 'coppice fsck --json'],
  },
  (call) =>
    withHome(call, async ({ home, path }) => {
      const { terminal, output } = call
      const report = await withProgress(terminal, 'fsck', 'object', (onProgress) =>
        home.fsck({ onProgress, signal: terminal.signal }),
      )
      const { checked, damaged } = report
      const lines = damaged.map(({ kind, id, detail }) => `damaged ${kind} ${id}: ${detail}`)
      const verdict = damaged.length === 0 ? 'all sound' : `${counted(damaged.length, 'object')} damaged`
      await output.value(report, [...lines, `checked ${counted(checked, 'object')}: ${verdict}`].join('\n'))
      if (damaged.length === 0) return exitCodes.ok
      terminal.err.write(errorLine(await damageText(path)))
      return exitCodes.failed
    }),
)
