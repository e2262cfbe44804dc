/** A process of its own that runs a shell line in a session with a limit of the disk, and says why it was stopped. */
import { join } from 'node:path'
import { defaultLimits } from '../../src/workspace/isolation/index.ts'
import { type CommandSession, openSession } from '../../src/workspace/session/index.ts'
import { runShell, seedBase } from './session-scenarios.ts'

interface LimitedRun {
  readonly kind: CommandSession['kind']
  readonly place: string
  readonly script: string
  readonly diskBytes: number
}

const { kind, place, script, diskBytes }: LimitedRun = JSON.parse(process.argv[2] ?? '{}')
const base = { lower: seedBase(join(place, 'base')), staged: [] }
await using session = await openSession(kind, base, { directory: join(place, 'sessions') })
const { stopped } = await runShell(session, script, {
  limits: { ...defaultLimits, diskBytes },
  timeoutMs: 20_000,
})
console.log(stopped)
