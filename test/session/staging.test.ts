import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { openSession, type StagedChange } from '../../src/workspace/session/index.ts'
import { attempt, run, whyNoOverlay } from '../support/tools.ts'

const kinds = [
  { kind: 'dir', why: undefined },
  { kind: 'overlay', why: whyNoOverlay() },
] as const

const about = { mode: 0o644, mtimeNs: 0n }

function put(path: string, content: string): StagedChange {
  return { kind: 'put', path, type: 'file', ...about, content: () => [Buffer.from(content)] }
}

/** A project of which one directory has become a link to where the user has other files of the same names. */
function place(): { readonly project: string; readonly elsewhere: string; readonly sessions: string } {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-staging-')))
  onTestFinished(() => rmSync(scratch, { recursive: true, force: true }))
  const [project, elsewhere, sessions] = ['project', 'elsewhere', 'sessions'].map((name) =>
    join(scratch, name),
  )
  if (project === undefined || elsewhere === undefined || sessions === undefined) throw new Error('no place')
  for (const path of [project, elsewhere]) mkdirSync(path)
  for (const name of ['gone', 'put']) writeFileSync(join(elsewhere, name), 'precious')
  symlinkSync(elsewhere, join(project, 'dir'))
  return { project, elsewhere, sessions }
}

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )
}

describe.each(kinds)('a $kind session on top of earlier changes', ({ kind, why }) => {
  it.skipIf(why !== undefined)(
    'has what they made, and not what they removed, whatever the names',
    async () => {
      const { project, sessions } = place()
      const odd = ['plain', '-n', "it's", 'a b', 'end\n', '\n', '$(x)', '\\']
      for (const name of odd) mkdirSync(join(project, 'in', name), { recursive: true })
      for (const path of [...odd, ...odd.map((name) => `in/${name}/x`)])
        writeFileSync(join(project, path), '')
      const gone = [...odd, ...odd.map((name) => `in/${name}/x`)].map((name) => `/${name}`).sort()
      const staged: StagedChange[] = [
        ...gone.map((path): StagedChange => ({ kind: 'gone', path })),
        put('/in/new', 'new'),
      ]
      await using session = await openSession(kind, { lower: project, staged }, { directory: sessions })
      const changes = await session.changes()
      expect(changes.flatMap((change) => (change.kind === 'gone' ? [change.path] : [])).sort()).toEqual(gone)
      expect(changes.flatMap((change) => (change.kind === 'put' ? [change.path] : []))).toEqual(['/in/new'])
    },
  )
})

/** A disk in memory whose clock goes on in steps of milliseconds, as all did before Linux 6.13. */
function withoutFineTimes(): string | undefined {
  if (process.getuid?.() !== 0 || process.platform !== 'linux') return undefined
  const path = mkdtempSync(join(tmpdir(), 'coppice-ticks-'))
  if (attempt('mount', '-t', 'ramfs', 'ramfs', path).status !== 0) return undefined
  onTestFinished(() => {
    run('umount', path)
    rmSync(path, { recursive: true })
  })
  return path
}

it('a dir session has an earlier change that came with the same tick of the clock as the copy', async ({
  skip,
}) => {
  const disk = withoutFineTimes() ?? skip('takes root, to mount a disk')
  for (let round = 0; round < 5; round++) {
    const lower = join(disk, String(round))
    mkdirSync(join(lower, 'dir'), { recursive: true })
    const staged: StagedChange[] = [
      { kind: 'put', path: '/dir', type: 'directory', mode: 0o700, mtimeNs: 0n },
    ]
    await using session = await openSession('dir', { lower, staged }, { directory: join(disk, 'sessions') })
    expect((await session.changes()).map(({ path }) => path)).toEqual(['/dir'])
  }
})

const precious = { gone: 'precious', put: 'precious' }

describe.each(kinds)('a $kind session on top of what has become a link', ({ kind, why }) => {
  it.skipIf(why !== undefined)('removes nothing behind it, and puts nothing there', async () => {
    const { project, elsewhere, sessions } = place()
    const gone: StagedChange = { kind: 'gone', path: '/dir/gone' }
    const begin = (...staged: StagedChange[]) =>
      openSession(kind, { lower: project, staged }, { directory: sessions })
    await using _session = await begin(gone)
    await expect(begin(gone, put('/dir/put', 'new'))).rejects.toMatchObject({ code: 'ECONFLICT' })
    const directory: StagedChange = { kind: 'put', path: '/dir', type: 'directory', ...about, mode: 0o755 }
    await using replaced = await begin(gone, put('/dir/put', 'new'), directory)
    const changes = (await replaced.changes()).map((change) => [change.path, change.kind])
    expect(changes).toEqual([
      ['/dir', 'put'],
      ['/dir/put', 'put'],
    ])
    expect(filesIn(elsewhere)).toEqual(precious)
  })

  it.skipIf(why !== undefined)('continues in a fork, whose apply reports it', async () => {
    const { project, elsewhere, sessions } = place()
    const dir = join(project, 'dir')
    rmSync(dir)
    mkdirSync(dir)
    for (const name of ['gone', 'put']) writeFileSync(join(dir, name), 'old')
    await using home = await openHome({ path: sessions })
    const boundary = await Boundary.open(home)
    const execute = (shell: string) => {
      const request = { vault: project, command: { shell }, session: kind, isolation: 'none' } as const
      return boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, fork: 'task' })
    }
    await execute('rm dir/gone; echo new > dir/put; chmod 700 dir')
    const link = boundary.openLinkedDirectory(project)
    const become = [() => {}, () => symlinkSync(elsewhere, dir), () => writeFileSync(dir, '')]
    for (const make of become) {
      rmSync(dir, { recursive: true })
      make()
      const { result } = await execute('stat -c %a dir; ls dir; cat dir/put')
      expect(result.stdout).toBe('700\nput\nnew\n')
      expect(filesIn(elsewhere)).toEqual(precious)
      await expect(link.apply(await link.getFork('task'))).rejects.toMatchObject({ code: 'ECONFLICT' })
      rmSync(dir, { recursive: true, force: true })
      mkdirSync(dir)
    }
    writeFileSync(join(dir, 'put'), 'old')
    await link.apply(await link.getFork('task'))
    expect(filesIn(dir)).toEqual({ put: 'new\n' })
  })
})
