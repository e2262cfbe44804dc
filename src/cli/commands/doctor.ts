import { tmpdir } from 'node:os'
import { type HostFinding, inspectHost } from '../../workspace/session/index.ts'
import { type Command, command } from '../command.ts'
import { homePath, isNoHome, isWritable } from '../home-access.ts'
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
    const hasHome = !(await isNoHome(home))
    const canWrite = hasHome && (await isWritable(home))
    const place = canWrite ? home : tmpdir()
    const { sweepStale } = await import('../../fuse/index.ts')
    const swept = await sweepStale()
    const host = await inspectHost(place)
    const report = {
      ...host,
      findings: [...host.findings, ...(hasHome ? [homeFinding(home, canWrite)] : [])],
    }
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

/** Even who only reads has to write to a store. */
function homeFinding(home: string, canWrite: boolean): HostFinding {
  if (canWrite) return { name: 'home', isAvailable: true, detail: `${home} can be written to` }
  const remedy = `have ${home} made writable for you, or name another home with --home`
  return { name: 'home', isAvailable: false, detail: `${home} cannot be written to`, remedy }
}
