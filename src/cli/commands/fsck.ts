import { shown } from '../../server/text/index.ts'
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
      'Reads everything that the home holds and names what is damaged, with the files it is a part of; exit code 1 if there is anything.',
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
      const lines = damaged.flatMap(({ kind, id, detail, places = [] }) => [
        `damaged ${kind} ${id}: ${detail}`,
        ...places.map((place) => `  in ${shown(place)}`),
      ])
      const verdict = damaged.length === 0 ? 'all sound' : `${counted(damaged.length, 'object')} damaged`
      await output.value(report, [...lines, `checked ${counted(checked, 'object')}: ${verdict}`].join('\n'))
      if (damaged.length === 0) return exitCodes.ok
      terminal.err.write(errorLine(await damageText(path)))
      return exitCodes.failed
    }),
)
