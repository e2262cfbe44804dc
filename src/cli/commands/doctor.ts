import { tmpdir } from 'node:os'
import { inspectHost } from '../../workspace/session/index.ts'
import { type Command, command } from '../command.ts'
import { homePath, isNoHome } from '../home-access.ts'
import { table } from '../table.ts'

export const doctor: Command = command(
  {
    name: 'doctor',
    summary: 'Show what this machine can do for commands, and how to enable the rest',
    details: `Tries out every kind of session and isolation. Nothing is left behind, and no home is made.
Mounts whose server has died are taken away.`,
    scope: 'home',
    examples: ['coppice doctor', 'coppice doctor --json'],
  },
  async (call) => {
    const home = homePath(call)
    // Whether an overlay can be had depends on the disk the home is on.
    const place = (await isNoHome(home)) ? tmpdir() : home
    const { sweepStale } = await import('../../fuse/index.ts')
    const swept = await sweepStale()
    const report = await inspectHost(place)
    const rows = report.findings.map(({ name, isAvailable, detail }) => [
      isAvailable ? 'yes' : 'no',
      name,
      detail,
    ])
    const remedies = report.findings.flatMap(({ name, remedy }) => (remedy ? [`${name}: ${remedy}`] : []))
    const text = [
      `Commands run in a session of kind '${report.session}'; strictest isolation: ${report.isolation}.`,
      '',
      ...table(rows),
      ...(remedies.length === 0
        ? []
        : ['', 'To have what is missing:', ...remedies.map((line) => `  ${line}`)]),
      ...(swept.length === 0 ? [] : ['', `Taken away, since nobody served them: ${swept.join(', ')}`]),
    ]
    await call.output.value({ ...report, swept }, text.join('\n'))
  },
)
