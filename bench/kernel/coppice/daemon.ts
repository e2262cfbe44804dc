import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DaemonClient } from '../../../src/daemon/client/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { TokenProvider } from './token-provider.ts'

const REPEATS = 2000
const WARMING = 200
const TOKENS = 50
const SECOND = 1000

/** Requests to a daemon that is a program of its own, one after another: from the call to its answer. */
export async function measure(recorder: Recorder, { directory, isQuick }: Settings): Promise<void> {
  const home = mkdtempSync(join(directory, 'home-'))
  const socket = join(home, 'd.sock')
  await using provider = await TokenProvider.start()
  const daemon = fork(new URL('./daemon-process.ts', import.meta.url), [home, socket, provider.url])
  try {
    await once(daemon, 'message')
    await using client = await DaemonClient.connect(socket)
    const repeats = isQuick ? REPEATS / 10 : REPEATS
    recorder.note('request', await measureRoundTrip(repeats, () => client.call('ps', { all: true })))
    const handle = await client.call('open', { path: '/proc/mounts' })
    recorder.note(
      'device',
      await measureRoundTrip(repeats, () => client.call('read_handle', { handle, length: 9 })),
    )
    recorder.note('token', await measureFirstToken(client, provider))
  } finally {
    daemon.disconnect()
    await once(daemon, 'exit')
    rmSync(home, { recursive: true })
  }
}

/** Measures from the moment a model sends its first token to that at which a client that follows the process has it. */
async function measureFirstToken(client: DaemonClient, provider: TokenProvider): Promise<number> {
  const times: number[] = []
  // The first process loads the library of the API, before its model sends anything.
  for (let turn = 0; turn < TOKENS; turn++) {
    const { pid } = await client.call('spawn', { intent: 'measure', provider: 'openai', model: 'bench' })
    for await (const line of client.stream('logs', { pid, follow: true })) {
      if (!('is_partial' in line)) continue
      times.push(performance.now() - provider.sentAt)
      provider.finish()
    }
    await client.call('wait', { pid })
  }
  return findMedian(times) / SECOND
}

/** Returns the median time of a request, after some that do not count. */
async function measureRoundTrip(repeats: number, ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let turn = -WARMING; turn < repeats; turn++) {
    const started = performance.now()
    await ask()
    if (turn >= 0) times.push(performance.now() - started)
  }
  return findMedian(times) / SECOND
}

function findMedian(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN
}
