import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Resolution } from '../../backends/vault/index.ts'
import type { PendingMerge } from './pending-merge.ts'
import { PendingMerges } from './pending-merges.ts'

describe('the merges that wait', () => {
  let home: string
  let merges: PendingMerges

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'coppice-merges-'))
    merges = new PendingMerges(home)
  })
  afterEach(() => rmSync(home, { recursive: true }))

  const merge: PendingMerge = { kind: 'vault', sources: ['task'], target: 'base', resolutions: new Map() }
  const edited = { bytes: Buffer.from([0xff, 0x00, 0x0a]), sides: 'digest' }

  it('are read back with every choice, whatever its bytes', async () => {
    const choices = new Map<string, Resolution>([
      ['/a', 'union'],
      ['/b\n', edited],
    ])
    await merges.begin({ ...merge, resolutions: choices })
    const [found] = new PendingMerges(home).list()
    expect(found).toEqual({ ...merge, resolutions: choices })
    expect(merges.find('other')).toBeUndefined()
    const [name = ''] = readdirSync(join(home, 'merges'))
    expect(statSync(join(home, 'merges', name)).mode & 0o777).toBe(0o600)
  })

  it('keep the choices of several processes at once, and forget those that are taken back', async () => {
    await merges.begin(merge)
    const paths = Array.from({ length: 20 }, (_, index) => `/${index}`)
    await Promise.all(
      paths.map((path) => new PendingMerges(home).resolve('base', new Map([[path, 'ours'] as const]))),
    )
    expect([...(merges.find('base')?.resolutions.keys() ?? [])].sort()).toEqual(paths.toSorted())
    await merges.resolve('base', new Map([['/3', undefined]]))
    expect(merges.find('base')?.resolutions.has('/3')).toBe(false)
    await merges.end('base')
    await merges.resolve('base', new Map([['/3', 'ours'] as const]))
    expect(merges.list()).toEqual([])
  })

  it('wait again with their choices after an undo, unless they had none or are of other forks', async () => {
    await merges.finish({ ...merge, resolutions: new Map([['/a', edited] as const]) })
    expect([merges.list(), merges.find('base')]).toEqual([[], undefined])
    expect(await merges.reopen('base', ['other'])).toBeUndefined()
    expect((await merges.reopen('base', ['task']))?.resolutions.get('/a')).toEqual(edited)
    expect(merges.find('base')?.resolutions.get('/a')).toEqual(edited)
    await merges.finish(merge)
    expect(await merges.reopen('base')).toBeUndefined()
  })

  it('are gone if their file was cut off', async () => {
    await merges.begin(merge)
    const [name = ''] = readdirSync(join(home, 'merges'))
    truncateSync(join(home, 'merges', name), 20)
    expect([merges.list(), merges.find('base')]).toEqual([[], undefined])
  })
})
