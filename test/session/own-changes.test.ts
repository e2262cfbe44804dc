import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import type { ChangedFiles } from '../../src/workspace/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { whyNoOverlay } from '../support/tools.ts'

const places = [
  { of: 'a directory', session: 'dir', why: undefined },
  { of: 'a directory', session: 'overlay', why: whyNoOverlay() },
  { of: 'a vault', session: 'dir', why: undefined },
  { of: 'a vault', session: 'overlay', why: whyNoOverlay() },
  { of: 'a vault', session: 'fuse', why: whyNoMount() },
] as const

/** A directory and a vault with the same file, and a fork `task` of one of them in which every command runs. */
async function openFork({ of, session }: (typeof places)[number]) {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-own-'))
  const [path, project] = [join(scratch, 'home'), join(scratch, 'project')]
  const home = await openHome({ path })
  onTestFinished(async () => {
    await home.close()
    rmSync(scratch, { recursive: true, force: true })
  })
  mkdirSync(project)
  writeFileSync(join(project, 'base'), 'one\n')
  await (await home.createVault('base')).write('/base', 'one\n')
  const boundary = await Boundary.open(home)
  const run = async (shell: string): Promise<ChangedFiles> => {
    const vault = of === 'a vault' ? 'base' : project
    const request = { vault, command: { shell }, session, isolation: 'none' } as const
    const { result } = await boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, fork: 'task' })
    return result.changed_files
  }
  return { run, home, project }
}

function changed(kinds: Partial<ChangedFiles>): ChangedFiles {
  return { added: [], modified: [], deleted: [], ...kinds }
}

describe.each(places)('a command in a fork of $of that is used again, session $session', (place) => {
  it.skipIf(place.why !== undefined)('is said to have changed what it changed itself', async () => {
    const { run, home } = await openFork(place)
    expect(await run('echo 1 > a; echo two > base')).toEqual(changed({ added: ['/a'], modified: ['/base'] }))
    expect(await run('echo 1 > b')).toEqual(changed({ added: ['/b'] }))
    expect(await run('cat a b')).toEqual(changed({}))
    expect(await run('echo one > base')).toEqual(changed({ modified: ['/base'] }))
    expect(await run('mv a c')).toEqual(changed({ added: ['/c'], deleted: ['/a'] }))
    expect(await run('rm c; echo 2 >> b')).toEqual(changed({ modified: ['/b'], deleted: ['/c'] }))
    expect((await home.vaults()).filter((name) => name.startsWith('session-'))).toEqual([])
  })
})

it("the user's own edits in the directory are no changes of a command that comes after them", async () => {
  const { run, project } = await openFork(places[0])
  await run('echo 1 > a; echo 1 > kept')
  writeFileSync(join(project, 'base'), 'edited\n')
  writeFileSync(join(project, 'new'), 'edited\n')
  expect(await run('echo 2 > a; cat base new')).toEqual(changed({ modified: ['/a'] }))
  expect(await run('echo 2 >> base; rm new')).toEqual(changed({ modified: ['/base'], deleted: ['/new'] }))
})
