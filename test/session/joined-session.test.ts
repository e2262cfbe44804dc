import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLimits, type IsolationPlan } from '../../src/workspace/isolation/index.ts'
import { joinSession, openSession, type RunSpec } from '../../src/workspace/session/index.ts'
import { root } from '../support/run-node.ts'
import { seedBase } from '../support/session-scenarios.ts'
import { whyNoBubblewrap, whyNoOverlay } from '../support/tools.ts'

const isRoot = process.getuid?.() === 0
/** Joining without bubblewrap is for root alone. */
const means = [
  { means: 'bubblewrap', why: whyNoOverlay() ?? whyNoBubblewrap() },
  { means: 'unshare', why: whyNoOverlay() ?? (isRoot ? undefined : 'needs root') },
] as const

let place = ''

beforeAll(() => {
  // Outside of /tmp, which is private to a command: without bubblewrap, one that joins would not find its pipes there.
  const parent = isRoot && root.startsWith('/tmp/') ? '/opt' : join(root, 'node_modules')
  place = mkdtempSync(join(parent, '.coppice-joined-'))
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

/**
 * Runs a shell line beside another command of the same session, and returns what it prints.
 *
 * @param onEnd called once it has ended, while the other command runs.
 */
async function runBeside(
  running: IsolationPlan,
  joined: IsolationPlan,
  line: string,
  onEnd?: () => PromiseLike<void>,
): Promise<string> {
  const at = mkdtempSync(join(place, 'session-'))
  const directory = join(at, 'sessions')
  await using session = await openSession(
    'overlay',
    { lower: seedBase(join(at, 'base')), staged: [] },
    { directory },
  )
  const spec = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, timeoutMs: 0, limits: defaultLimits }
  const ending = new AbortController()
  const started = Promise.withResolvers<number>()
  const output = Promise.withResolvers<void>()
  const first: RunSpec = {
    ...spec,
    command: { shell: 'echo ready; sleep 60' },
    isolation: running,
    signal: ending.signal,
    onStart: started.resolve,
    onOutput: () => output.resolve(),
  }
  const end = session.run(first)
  await Promise.race([output.promise, end])
  const beside = await joinSession({ ...session.describe(), pid: await started.promise }, { directory })
  const outcome = await beside.run({ ...spec, command: { shell: line }, isolation: joined })
  await onEnd?.()
  await beside[Symbol.asyncDispose]()
  ending.abort()
  await end
  return Buffer.from(outcome.stdout).toString().trim()
}

describe.each(means)('a command that joins another, confined by $means', ({ means, why }) => {
  const reachesAll: IsolationPlan = { level: 'strict', network: true, means }
  const reachesNothing: IsolationPlan = { level: 'strict', network: false, means }

  it.skipIf(why !== undefined)('does not get the network that the other one has', async () => {
    const line = 'readlink /proc/self/ns/net'
    const outside = readlinkSync('/proc/self/ns/net')
    expect(await runBeside(reachesAll, reachesAll, line)).toBe(outside)
    expect(await runBeside(reachesAll, reachesNothing, line)).toMatch(/^net:/)
    expect(await runBeside(reachesAll, reachesNothing, line)).not.toBe(outside)
  })

  it.skipIf(why !== undefined)('leaves no process behind, also none in a session of its own', async () => {
    const seconds = `${1000 + Math.random()}`
    const line = `setsid sleep ${seconds} & sleep ${seconds} & echo started`
    const listLeft = () => listCommandLines().filter((words) => words.includes(seconds))
    const answer = await runBeside(reachesNothing, reachesNothing, line, () =>
      expect.poll(listLeft).toEqual([]),
    )
    expect(answer).toBe('started')
  })
})

/** Lists the command lines of all processes that run. */
function listCommandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')]
      } catch {
        // It has exited.
        return []
      }
    })
}
