import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { getDirectoryIdentity, type WatchAnswer } from '../../src/timeline/events/index.ts'
import { askWatcher, getWatcherStatus, stopWatcher } from '../../src/timeline/watch/index.ts'
import { programFile } from '../support/program-file.ts'

interface Place {
  readonly home: string
  readonly directory: string
  /** The directory of requests. */
  readonly requests: string
}

function createPlace(): Place {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-watcher-')))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const home = join(scratch, 'home')
  const directory = join(scratch, 'project')
  for (const path of [home, directory]) mkdirSync(path)
  return { home, directory, requests: join(home, 'run/watcher') }
}

/** Starts a watcher in a process of its own, since clients wait without a turn. Returns it with its first word. */
async function startWatcher(home: string, idleMs?: number) {
  const args = [programFile('hook-watcher-process'), home, ...(idleMs === undefined ? [] : [String(idleMs)])]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const [word] = child.stdout === null ? [] : await once(child.stdout, 'data')
  return { child, ended, word: String(word).split('\n', 1)[0] }
}

function ask(
  { home, directory }: Place,
  mark?: string,
  identity = getDirectoryIdentity(directory) ?? '',
): WatchAnswer | 'absent' | undefined {
  return askWatcher(home, { directory, identity, settings: {}, mark })
}

/** Asks until the whole directory is watched. */
async function waitForMark(place: Place): Promise<string | undefined> {
  await expect.poll(() => ask(place), { timeout: 20_000 }).toHaveProperty('mark')
  const answer = ask(place)
  return typeof answer === 'object' ? answer.mark : undefined
}

describe.runIf(process.platform === 'linux')('the watcher of a home', { timeout: 60_000 }, () => {
  it('says whether a directory changed since an earlier question', async () => {
    const place = createPlace()
    const { home, directory, requests } = place
    expect(ask(place)).toBe('absent')
    const { child } = await startWatcher(home)
    expect(statSync(requests).mode & 0o777).toBe(0o700)
    const mark = await waitForMark(place)
    await expect.poll(() => ask(place, mark)).toEqual({ mark, isUnchanged: true })
    writeFileSync(join(directory, 'a'), '1')
    await expect.poll(() => ask(place, mark)).toMatchObject({ isUnchanged: false })
    const directories = [{ directory, state: 'watched' }]
    expect(getWatcherStatus(home)).toMatchObject({ pid: child.pid, directories })
  })

  it('knows nothing about another directory of the same path', async () => {
    const place = createPlace()
    await startWatcher(place.home)
    await waitForMark(place)
    await expect.poll(() => ask(place, undefined, '1 2')).toEqual({ isUnchanged: false })
  })

  it('runs once, and is replaced where it was killed', async () => {
    const place = createPlace()
    const { home, requests } = place
    const killed = await startWatcher(home)
    expect((await startWatcher(home)).word).toBe('taken')
    killed.child.kill('SIGKILL')
    await killed.ended
    expect(existsSync(requests)).toBe(true)
    expect(ask(place)).toBe('absent')
    expect(getWatcherStatus(home)).toBeUndefined()
    expect(stopWatcher(home)).toBe(false)
    const { child, word, ended } = await startWatcher(home)
    expect(word).toBe('runs')
    expect(getWatcherStatus(home)).toMatchObject({ pid: child.pid })
    expect(stopWatcher(home)).toBe(true)
    expect(await ended).toEqual([0, null])
    expect(existsSync(requests)).toBe(false)
  })

  it('is said to have stopped by neither of two commands where it was killed', async () => {
    const { home } = createPlace()
    const killed = await startWatcher(home)
    killed.child.kill('SIGKILL')
    await killed.ended
    // Other commands look whether it runs, all the time.
    for (let others = 0; others < 3; others++) {
      const looking = spawn(process.execPath, [programFile('watcher-looking-process'), home], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      onTestFinished(() => void looking.kill('SIGKILL'))
      await once(looking.stdout, 'data')
    }
    for (let look = 0; look < 200; look++) expect(stopWatcher(home)).toBe(false)
  })

  it('stops while a client writes requests, and releases the home', async () => {
    const { home, requests } = createPlace()
    const { ended } = await startWatcher(home)
    const program = `const fs = require('node:fs')
      for (let count = 0; ; count++) try { fs.writeFileSync(process.argv[1] + '/' + process.pid + '-' + count, '') } catch {}`
    for (let clients = 0; clients < 3; clients++) {
      const writing = spawn(process.execPath, ['-e', program, requests], { stdio: 'ignore' })
      onTestFinished(() => void writing.kill('SIGKILL'))
    }
    await expect.poll(() => readdirSync(requests).length).toBeGreaterThan(10)
    expect(stopWatcher(home)).toBe(true)
    expect(await ended).toEqual([0, null])
    expect(existsSync(requests)).toBe(false)
  })

  it('gives no answer if it ends while it is asked', async () => {
    const place = createPlace()
    await startWatcher(place.home)
    // Evaluated between the look for the directory and the write into it.
    const question = { directory: '/', identity: '', settings: {}, mark: undefined }
    const toJSON = () => {
      rmSync(place.requests, { recursive: true, force: true })
      return {}
    }
    const asked = { ...question, toJSON }
    expect(askWatcher(place.home, asked)).toBe('absent')
  })

  it('stops when no hook asks any more', async () => {
    const place = createPlace()
    const { ended } = await startWatcher(place.home, 1)
    expect(await ended).toEqual([0, null])
    expect(ask(place)).toBe('absent')
  })

  it('stops when its home is removed', async () => {
    const { home } = createPlace()
    const { ended } = await startWatcher(home)
    rmSync(home, { recursive: true })
    expect(await ended).toEqual([0, null])
  })

  it('makes way for the watcher of another version', async () => {
    const { home, requests } = createPlace()
    const { ended } = await startWatcher(home)
    // As clients do: a request is complete under its name.
    writeFileSync(join(requests, 'new'), JSON.stringify({ v: 1000, method: 'ask' }))
    renameSync(join(requests, 'new'), join(requests, 'new.request'))
    expect(await ended).toEqual([0, null])
  })

  it('answers others beside a request that is damaged', async () => {
    const place = createPlace()
    await startWatcher(place.home)
    for (const text of ['', '{', '3', 'null', '{"v":1,"method":"ask"}'])
      writeFileSync(join(place.requests, `${text.length}.request`), text)
    await waitForMark(place)
  })
})
