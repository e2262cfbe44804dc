import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Home, openHome } from '../backends/vault/index.ts'
import { Boundary, type RunReport } from './index.ts'

async function openBoundary(): Promise<{
  path: string
  home: Home
  boundary: Boundary
  run: (shell: string) => Promise<RunReport>
}> {
  const path = mkdtempSync(join(tmpdir(), 'coppice-boundary-'))
  const home = await openHome({ path })
  onTestFinished(async () => {
    await home.close()
    rmSync(path, { recursive: true, force: true })
  })
  await (await home.createVault('base')).write('/a', 'one\n')
  const boundary = await Boundary.open(home)
  const env = { PATH: '/usr/bin:/bin' }
  const run = (shell: string) =>
    boundary.run({ vault: 'base', command: { shell }, session: 'dir', isolation: 'none' }, { env })
  return { path, home, boundary, run }
}

describe('the boundary of a home', () => {
  it('gives each of several concurrent commands its own fork, over one checkout of the vault', async () => {
    const { path, home, run } = await openBoundary()
    const reports = await Promise.all(['x', 'y', 'z'].map((name) => run(`echo ${name} > ${name}`)))
    expect(reports.map(({ fork }) => fork).sort()).toEqual(['base-1', 'base-2', 'base-3'])
    for (const { result, fork } of reports) {
      const changes = await Array.fromAsync((await home.vault(fork ?? '')).diff())
      expect(changes.map((change) => change.path)).toEqual(result.changed_files.added)
    }
    expect(readdirSync(join(path, 'checkouts'))).toHaveLength(1)
  })

  it.each(['/', '/proc', '/dev/pts'])('runs nothing in %s, which no session can isolate', async (vault) => {
    const { boundary } = await openBoundary()
    for (const session of ['overlay', 'dir'] as const) {
      const request = { vault, command: { argv: ['true'] }, session, isolation: 'none' } as const
      await expect(boundary.run(request, {})).rejects.toMatchObject({ code: 'EINVAL', path: vault })
    }
  })

  it('applies an approval to the run that asked, and not to an equal one', async () => {
    const { boundary } = await openBoundary()
    const command = { shell: 'curl -s --version > /dev/null; echo ran' }
    const request = { vault: 'base', command, session: 'dir', isolation: 'none' } as const
    const questions = [0, 1, 2].map(() => Promise.withResolvers<'yes' | 'no'>())
    const asked = questions.map(() => Promise.withResolvers<void>())
    const runs = questions.map((question, index) => {
      const ask = () => {
        asked[index]?.resolve()
        return question.promise
      }
      return boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, ask })
    })
    const [first, second, third] = runs.map((run) => run.then(() => 'ran', String))
    await Promise.all(asked.map(({ promise }) => promise))
    questions[0]?.resolve('yes')
    expect(await first).toBe('ran')
    questions[1]?.resolve('yes')
    expect(await second).toBe('ran')
    questions[2]?.resolve('no')
    expect(await third).toMatch(/^VfsError: EACCES/)
    await expect(boundary.run(request, {})).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('runs or refuses a command that still asks, once its request is decided elsewhere', async () => {
    const { boundary } = await openBoundary()
    const request = {
      vault: 'base',
      command: { shell: 'curl -s --version > /dev/null; echo ran' },
      session: 'dir',
    } as const
    const withdrawn: AbortSignal[] = []
    async function run(hosts: string[], decide: (id: string) => Promise<unknown>): Promise<string> {
      const asked = Promise.withResolvers<void>()
      const ask = (_decision: unknown, _request: unknown, signal: AbortSignal) => {
        withdrawn.push(signal)
        asked.resolve()
        return new Promise<'no'>(() => {})
      }
      const options = { env: { PATH: '/usr/bin:/bin' }, ask }
      const running = boundary
        .run({ ...request, hosts }, options)
        .then(({ result }) => String(result.stdout), String)
      await asked.promise
      const [waiting] = (await boundary.approvals.list()).filter(
        (each) => each.approved === null && each.denied === undefined,
      )
      await decide(waiting?.id ?? '')
      return running
    }
    const { approvals, hostGrants } = boundary
    expect(await run([], (id) => approvals.approve(id))).toBe('ran\n')
    expect(await approvals.list()).toEqual([])
    expect(await run([], (id) => approvals.deny(id))).toMatch(/a person denied it/)
    const rule = { host: 'example.com', isWildcard: false }
    const allow = async (id: string) => {
      await hostGrants.grant([rule], { vault: 'base' })
      await approvals.take(id)
    }
    expect(await run(['example.com'], allow)).toBe('ran\n')
    const allowHost = () =>
      boundary.grantHosts([{ host: 'example.org', isWildcard: false }], { vault: 'base' })
    expect(await run(['example.org'], allowHost)).toBe('ran\n')
    expect((await approvals.list()).filter(({ denied }) => denied === undefined)).toEqual([])
    expect(withdrawn.map(({ aborted }) => aborted)).toEqual([true, true, true, true])
  })

  it('asks again for the runs that an approval elsewhere was not for', async () => {
    const { boundary } = await openBoundary()
    const command = { shell: 'curl -s --version > /dev/null; echo ran' }
    const request = { vault: 'base', command, session: 'dir', isolation: 'none' } as const
    let asked = 0
    const all = Promise.withResolvers<void>()
    const again = Promise.withResolvers<void>()
    const ask = async () => {
      asked++
      if (asked === 2) all.resolve()
      if (asked === 3) again.resolve()
      return asked < 3 ? new Promise<'no'>(() => {}) : ('dismissed' as const)
    }
    const runs = [0, 1].map(() => boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, ask }))
    const ended = Promise.all(runs.map((run) => run.then(() => 'ran', String)))
    await all.promise
    const [waiting] = await boundary.approvals.list()
    await boundary.approvals.approve(waiting?.id ?? '')
    await again.promise
    expect((await ended).toSorted()).toEqual([expect.stringMatching(/dismissed/), 'ran'])
  })

  it('keeps no approval of a run that was cancelled before it started', async () => {
    const { boundary } = await openBoundary()
    const request = { vault: 'base', command: { shell: 'curl -s --version' }, session: 'dir' } as const
    const calledOff = new AbortController()
    const ask = async () => {
      calledOff.abort(new Error('called off'))
      return 'yes' as const
    }
    await expect(boundary.run(request, { ask, signal: calledOff.signal })).rejects.toThrow('called off')
    await expect(boundary.run(request, {})).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('runs nothing if the fork name for its changes is invalid', async () => {
    const { boundary, path } = await openBoundary()
    const [project, said] = [join(path, 'project'), [] as string[]]
    mkdirSync(project)
    for (const vault of ['base', project]) {
      const request = { vault, command: { shell: 'echo ran > f; echo ran' }, session: 'dir' } as const
      const options = { fork: '../x', onOutput: (stream: string) => said.push(stream) }
      await expect(boundary.run(request, options)).rejects.toMatchObject({ code: 'EINVAL', path: '../x' })
    }
    expect(said).toEqual([])
  })

  it('runs each command on the current state of the vault', async () => {
    const { home, run } = await openBoundary()
    expect((await run('cat a')).result.stdout).toBe('one\n')
    await (await home.vault('base')).write('/a', 'two\n')
    expect((await run('cat a')).result.stdout).toBe('two\n')
  })
})
