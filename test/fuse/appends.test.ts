import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { sweepStaleMounts } from '../../src/fuse/index.ts'
import { type EngineName, sharedEngineNames } from '../support/engines.ts'
import { programFile } from '../support/program-file.ts'
import { recordOf } from './append-record.ts'
import type { AppendOrder } from './append-records.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount()
const RECORDS = process.env.COPPICE_TORTURE === 'long' ? 5000 : 150

describe.skipIf(reason !== undefined)(`appends in a mount${reason ? `: ${reason}` : ''}`, () => {
  it.each(sharedEngineNames)(
    'of four processes, two of them library ones, are all there, on %s',
    async (engine) => {
      await using mounted = await MountedVault.create({ engine })
      await using _swept = { [Symbol.asyncDispose]: async () => void (await sweepStaleMounts()) }
      const directories = ['served-0', 'served-1'].map((name) => join(mounted.home, '..', name))
      for (const directory of directories) mkdirSync(directory)
      writeFileSync(join(mounted.path, 'log'), '')
      const servers = directories.map((directory) => ServerProcess.start(mounted.home, directory, engine))
      await using _first = await servers[0]
      await using _second = await servers[1]
      const [one = '', other = ''] = directories.map((directory) => join(directory, 'log'))
      await appendAll(mounted.home, engine, [
        ['descriptor', one],
        ['reopened', other],
        ['append', '/log'],
        ['handle', '/log'],
      ])
      await using home = await openHome({ path: mounted.home, engine })
      const content = await contentOf(home, '/log')
      expect(incomplete(content.toString(), 4)).toEqual([])
      // The kernels had other ideas of where the records are; they were made to drop them.
      for (const file of [one, other])
        await vi.waitFor(() => expect(readFileSync(file)).toEqual(content), 20_000)
    },
  )

  it('go to the end of a file that somebody else has made shorter', async () => {
    await using mounted = await MountedVault.create()
    const { directory } = await mounted.mount()
    const [here, there] = [join(mounted.path, 'f'), join(directory, 'f')]
    writeFileSync(here, 'x'.repeat(10_000))
    const writer = startAppender(mounted.home, 'sqlite', 'a', ['descriptor', here])
    await once(writer.stdout ?? writer, 'data')
    truncateSync(there, 5)
    writer.stdin?.write('go\n')
    expect(await once(writer, 'exit')).toEqual([0, null])
    await using home = await openHome({ path: mounted.home })
    const content = (await contentOf(home, '/f')).toString()
    expect(content.slice(0, 5)).toBe('xxxxx')
    expect(incomplete(content.slice(5), 1)).toEqual([])
  })
})

async function contentOf(home: Home, path: string): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync((await home.vault('v')).read(path)))
}

const NAMES = ['a', 'b', 'c', 'd']

function startAppender(
  path: string,
  engine: EngineName,
  writer: string,
  [way, file]: readonly [AppendOrder['way'], string],
): ChildProcess {
  const order: AppendOrder = { writer, way, file, records: RECORDS, home: { path, engine } }
  return spawn(process.execPath, [programFile('append-records'), JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
}

/** Has them all begin at the same moment, and waits until each has done all of it. */
async function appendAll(
  home: string,
  engine: EngineName,
  ways: readonly (readonly [AppendOrder['way'], string])[],
): Promise<void> {
  const writers = ways.map((way, index) => startAppender(home, engine, NAMES[index] ?? '', way))
  await Promise.all(writers.map((writer) => once(writer.stdout ?? writer, 'data')))
  const ends = writers.map((writer) => once(writer, 'exit'))
  for (const writer of writers) writer.stdin?.write('go\n')
  expect((await Promise.all(ends)).map(([code]) => code)).toEqual(ways.map(() => 0))
}

/** Writers whose records are not all there: each whole, once and in its order. Anything else in the file is one too. */
function incomplete(content: string, writers: number): string[] {
  const lines = content.split(/(?<=\n)/)
  const strangers = lines.filter((line) => !NAMES.includes(line[0] ?? ''))
  const wrong = NAMES.slice(0, writers).filter((name) => {
    const expected = Array.from({ length: RECORDS }, (_, index) => recordOf(name, index))
    return lines.filter((line) => line[0] === name).join('') !== expected.join('')
  })
  return [...strangers, ...wrong]
}
