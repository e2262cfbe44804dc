import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ChangedInodes } from './foreign-changes.ts'
import { openHome } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-foreign-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('changes by others', () => {
  it('are reported by name and inode, and own changes are not', async () => {
    const path = join(scratch, 'home')
    await using mine = await openHome({ path })
    const vault = await mine.createVault('v')
    await vault.write('/changed', 'before')
    const own = await mine.posix('v', { by: { trace: 'own' } })
    const ending = new AbortController()
    await using watching = await openHome({ path })
    const { promise: isReady, resolve } = Promise.withResolvers<void>()
    const news = watching.watchForeignChanges('v', { trace: 'own', signal: ending.signal, onReady: resolve })
    const first = news.next()
    await isReady
    own.create(1, 'own', { mode: 0o644, uid: 0, gid: 0 })
    await vault.write('/changed', 'after')
    const changes = (await first).value ?? { names: [], inodes: [] }
    const changed = own.lookup(1, 'changed')
    expect(changes.names).toContainEqual({ parent: 1, name: 'changed' })
    expect(changes.inodes).toContain(changed)
    const second = news.next()
    own.mkdir(1, 'quiet', { mode: 0o755, uid: 0, gid: 0 })
    ending.abort()
    expect(await second).toEqual({ done: true, value: undefined } satisfies IteratorResult<ChangedInodes>)
  })
})
