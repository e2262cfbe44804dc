import fs, { renameSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { createProcessTag } from '../../src/machine/index.ts'
import { sweepSessions } from '../../src/workspace/session/index.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { KilledProject } from './killed-project.ts'

const reason = whyNoOverlay()

describe.skipIf(reason !== undefined)(`what a killed command left${reason ? `: ${reason}` : ''}`, () => {
  it('is not removed by a sweep that meets another process with it, which then gives it back', async () => {
    const cli = new KilledProject()
    await cli.kill('echo new > new', '--fork', 'fix')
    const other = new OtherProcess(cli)
    await withStub(
      'existsSync',
      (exists, path) => {
        if (other.count > 0 || !path.endsWith('/fork.json')) return exists()
        other.adopt()
        const found = exists()
        other.giveBack()
        return found
      },
      () => sweepSessions(other.sessions),
    )
    expect(other.count).toBe(1)
    expect((await cli.run(['forks'])).stderr).toBe(
      'coppice: a command of fix was killed; the fork has its changes now\n',
    )
    expect(await cli.ok('diff', 'fix', '--stat')).toMatch(/^A \/new {2}\+1 -0\n1 path/)
  })

  it.each([
    ['keeps it', false],
    ['gives it back at once', true],
  ])('keeps its start while a sweep meets another process with it, which %s', async (_, isGivenBack) => {
    const cli = new KilledProject()
    await cli.run(['exec', '--fork', 'fix', '-c', '--', 'echo before > before'])
    await cli.kill('sed -i s/one/ONE/ a', '--fork', 'fix')
    const other = new OtherProcess(cli)
    const home = await openHome({ path: cli.home })
    await withStub(
      'readFileSync',
      (read, path) => {
        if (other.count > 0 || !path.endsWith('/fork.json')) return read()
        other.adopt()
        try {
          return read()
        } finally {
          if (isGivenBack) other.giveBack()
        }
      },
      () => Boundary.open(home),
    )
    expect(other.count).toBe(1)
    expect(await home.vaults()).toContainEqual(expect.stringMatching(/^session-/))
    await home.close()
  })
})

/** Another process that takes over what a killed command left in a project. */
class OtherProcess {
  readonly sessions: string
  /** Number of times that it took it over. */
  count = 0
  readonly #left: string
  readonly #own: string

  constructor(cli: KilledProject) {
    this.sessions = join(cli.home, 'sessions')
    const [left = ''] = cli.listSessions()
    this.#left = join(this.sessions, left)
    this.#own = join(this.sessions, createProcessTag())
  }

  adopt(): void {
    this.count++
    renameSync(this.#left, this.#own)
  }

  giveBack(): void {
    renameSync(this.#own, this.#left)
  }
}

/** Runs work with a function of `node:fs` replaced by one that gets the call and its path. */
async function withStub(
  name: 'existsSync' | 'readFileSync',
  stub: (call: () => unknown, path: string) => unknown,
  work: () => Promise<unknown>,
): Promise<void> {
  const original = fs[name]
  Reflect.set(fs, name, (...words: unknown[]) =>
    stub(() => Reflect.apply(original, fs, words), String(words[0])),
  )
  syncBuiltinESMExports()
  try {
    await work()
  } finally {
    Reflect.set(fs, name, original)
    syncBuiltinESMExports()
  }
}
