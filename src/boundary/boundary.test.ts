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
