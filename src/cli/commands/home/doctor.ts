import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { isErrno } from '../../../machine/index.ts'
import type { WaitingChanges } from '../../../workspace/index.ts'
import { type HostFinding, inspectHost } from '../../../workspace/session/index.ts'
import { isWritable } from '../../access/hidden-home.ts'
import { isHomeMissing, resolveHomePath, toHomeAccessError } from '../../access/home-access.ts'
import { inspectPrivacy } from '../../access/home-privacy.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { describeError } from '../../framework/errors.ts'
import { formatTable } from '../../render/table.ts'
import { formatWaitingChanges } from '../../render/waiting-changes.ts'

export const doctor: Command = defineCommand(
  {
    name: 'doctor',
    summary: 'Check which sessions and isolation this machine supports',
    details: `Tries every kind of session and isolation, and says how to enable the rest. Creates no home.
Removes mounts whose server has died, and makes the home private to its owner.
Names what killed commands changed in forks of directories that are missing.`,
    scope: 'home',
    examples: ['coppice doctor', 'coppice doctor --json'],
  },
  async (call) => {
    const home = await resolveHomePath(call)
    const { directory, findings } = await findProbeLocation(home)
    const { sweepStaleMounts } = await import('../../../fuse/index.ts')
    const swept = await sweepStaleMounts()
    const host = await inspectHost(directory)
    const { listWaitingChanges } = await import('../../../workspace/index.ts')
    const waiting = directory === home ? listWaitingChanges(home) : []
    const report = { ...host, findings: [...host.findings, ...findings] }
    const rows = report.findings.map(({ name, isAvailable, detail }) => [
      isAvailable ? 'yes' : 'no',
      name,
      detail,
    ])
    const remedies = report.findings.flatMap(({ name, remedy }) => (remedy ? [`${name}: ${remedy}`] : []))
    const text = [
      `Commands run in a session of kind '${report.session}'; strictest isolation: ${report.isolation}.`,
      '',
      ...formatTable(rows),
      ...(remedies.length === 0 ? [] : ['', 'To enable the rest:', ...remedies.map((line) => `  ${line}`)]),
      ...(waiting.length === 0 ? [] : ['', ...waiting.map(formatWaitingLine)]),
      ...(swept.length === 0 ? [] : ['', `Removed mounts without a server: ${swept.join(', ')}`]),
    ]
    await call.output.writeValue({ ...report, swept, waitingChanges: waiting }, text.join('\n'))
  },
)

/** Formats waiting changes with what becomes of them. */
function formatWaitingLine(changes: WaitingChanges): string {
  const next = changes.fork === undefined ? '' : '; the next command stores them once it is there again'
  return `${formatWaitingChanges(changes)}${next}; coppice gc --keep-left 0h deletes them`
}

/** A directory for the probes, and findings about the home. */
interface ProbeLocation {
  readonly directory: string
  readonly findings: readonly HostFinding[]
}

/**
 * Returns the home, or its nearest parent if it is missing: overlay support depends on the disk. If neither is
 * writable, the directory for temporary files.
 */
async function findProbeLocation(home: string): Promise<ProbeLocation> {
  try {
    if (isHomeMissing(home)) return { directory: await findWritableParent(home), findings: [] }
  } catch (error) {
    const detail = describeError(error).message
    return { directory: tmpdir(), findings: [{ name: 'home', isAvailable: false, detail }] }
  }
  const canWrite = isWritable(home)
  const findings = [createHomeFinding(home, canWrite), await inspectPrivacy(home)]
  return { directory: canWrite ? home : tmpdir(), findings }
}

/** Returns the nearest directory above that exists. Throws if it is not writable. */
async function findWritableParent(home: string): Promise<string> {
  for (let directory = home; ; directory = dirname(directory)) {
    try {
      await access(directory, constants.R_OK | constants.W_OK | constants.X_OK)
      return directory
    } catch (error) {
      const isMissing = isErrno(error, 'ENOENT')
      if (!isMissing) throw toHomeAccessError(home, error)
    }
  }
}

/** Reports whether the home is writable; reading a store needs that too. */
function createHomeFinding(home: string, canWrite: boolean): HostFinding {
  if (canWrite) return { name: 'home', isAvailable: true, detail: `${home} is writable` }
  const remedy = `make ${home} writable, or name another home with --home`
  return { name: 'home', isAvailable: false, detail: `${home} is not writable`, remedy }
}
