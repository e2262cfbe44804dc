import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary, type RunReport } from '../../src/boundary/index.ts'
import { readText } from '../../src/vfs/index.ts'
import type { CommandSession } from '../../src/workspace/session/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { whyNoOverlay } from '../support/tools.ts'

const kinds = [
  { kind: 'dir', why: undefined, is: 'each name is a file of its own', twin: 'one\n', modified: ['/a'] },
  {
    kind: 'overlay',
    why: whyNoOverlay(),
    is: 'each name is a file of its own',
    twin: 'one\n',
    modified: ['/a'],
  },
  {
    kind: 'fuse',
    why: whyNoMount(),
    is: 'all names are one file',
    twin: 'one\nmore\n',
    modified: ['/a', '/b'],
  },
] as const

/** A fork in which a command gave a file of the base a second name. */
async function linked() {
  const path = mkdtempSync(join(tmpdir(), 'coppice-links-'))
  const home = await openHome({ path })
  onTestFinished(async () => {
    await home.close()
    rmSync(path, { recursive: true, force: true })
  })
  await (await home.createVault('base')).write('/a', 'one\n')
  const boundary = await Boundary.open(home)
  const run = (shell: string, session: CommandSession['kind']): Promise<RunReport> => {
    const request = { vault: 'base', command: { shell }, session, isolation: 'none' } as const
    return boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, fork: 'task' })
  }
  await run('ln a b', 'dir')
  return { run, task: await home.vault('task') }
}

describe('a file with two names in a vault', () => {
  it.each(kinds)('is changed through one, in a $kind session: $is', async ({ kind, why, twin, modified }) => {
    if (why !== undefined) return
    const { run, task } = await linked()
    const { result } = await run('echo more >> a', kind)
    expect(await readText(task, '/a')).toBe('one\nmore\n')
    expect(await readText(task, '/b')).toBe(twin)
    expect(result.changed_files).toEqual({ added: [], modified, deleted: [] })
  })

  it.each(kinds)('is replaced under one, in a $kind session', async ({ kind, why }) => {
    if (why !== undefined) return
    const { run, task } = await linked()
    const { result } = await run('echo new > t; mv t a', kind)
    expect(await readText(task, '/a')).toBe('new\n')
    expect(await readText(task, '/b')).toBe('one\n')
    expect(result.changed_files).toEqual({ added: [], modified: ['/a'], deleted: [] })
  })
})
