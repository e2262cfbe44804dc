import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type FeedItem, type FeedOptions, openHome, type Vault } from './index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-feed-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let places = 0
const newPlace = () => join(scratch, `home-${++places}`)

const formatItem = ({ op, path, to }: FeedItem) => [op, path, ...(to === undefined ? [] : [to])].join(' ')
const all = async (vault: Vault, options: FeedOptions = {}) => Array.fromAsync(vault.changes(options))

/** A vault with a life: its own changes, and two merges of several each. */
async function lived(): Promise<Vault> {
  const home = await openHome()
  const base = await home.createVault('base')
  await base.write('/a', 'x')
  const task = await home.fork('base', 'task')
  for (const path of ['/m', '/n', '/o']) await task.write(path, path)
  await base.mkdir('/d')
  await home.merge('task', 'base')
  await base.rename('/a', '/d/a', {}, { trace: 't1' })
  for (const path of ['/p', '/q']) await task.write(path, path)
  await home.merge('task', 'base')
  await base.checkpoint('then')
  await base.remove('/d', { recursive: true })
  await base.restore('then')
  return base
}

describe('the change feed', () => {
  it('yields everything in order, a merge change by change', async () => {
    const items = await all(await lived())
    expect(items.map(formatItem).slice(0, 6)).toEqual([
      'write /a',
      'mkdir /d',
      'write /m',
      'write /n',
      'write /o',
      'rename /a /d/a',
    ])
    expect(items.map(formatItem).slice(-2)).toEqual(['remove /d', 'restore /'])
    expect(items.find(({ trace }) => trace === 't1')).toMatchObject({ op: 'rename' })
    expect(new Set(items.map(({ token }) => token)).size).toBe(items.length)
    expect(items.map(({ seq }) => seq)).toEqual(items.map(({ seq }) => seq).sort((a, b) => a - b))
  })

  it('resumes after any token with exactly the rest', async () => {
    const vault = await lived()
    const items = await all(vault)
    for (const [index, { token }] of items.entries())
      expect(await all(vault, { since: token })).toEqual(items.slice(index + 1))
    await vault.write('/later', 'x')
    expect((await all(vault, { since: items.at(-1)?.token ?? '' })).map(formatItem)).toEqual(['write /later'])
  })

  it('of a fork starts at the fork and accepts only its own tokens', async () => {
    const home = await openHome()
    const base = await home.createVault('base')
    await base.write('/a', 'x')
    const task = await home.fork('base', 'task')
    await task.write('/b', 'x')
    expect((await all(task)).map(formatItem)).toEqual(['write /b'])
    const [first] = await all(base)
    for (const since of [first?.token ?? '', '', 'x', '1', '1.', '-1.1', '1.1.1.1', `${first?.token} `])
      await expect(all(task, { since })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('may be longer than one batch', async () => {
    const vault = await (await openHome()).createVault('base')
    await Promise.all(Array.from({ length: 2500 }, (_, file) => vault.write(`/f${file}`, 'x')))
    const items = await all(vault)
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1))
    expect((await all(vault, { since: items[1499]?.token ?? '' })).length).toBe(1000)
  })

  it('follows this and other homes until it is aborted', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    const mine = await one.createVault('base')
    const theirs = await other.vault('base')
    await mine.write('/0', 'x')
    const stop = new AbortController()
    const seen: string[] = []
    const follow = async () => {
      for await (const item of theirs.changes({ follow: true, signal: stop.signal })) {
        seen.push(formatItem(item))
        // Each answer provokes the next change, by one home and by the other.
        const next = seen.length
        if (next === 6) stop.abort()
        else await (next % 2 === 0 ? mine : theirs).write(`/${next}`, 'x')
      }
    }
    await expect(follow()).rejects.toMatchObject({ name: 'AbortError' })
    expect(seen).toEqual(['write /0', 'write /1', 'write /2', 'write /3', 'write /4', 'write /5'])
    await one.close()
    await other.close()
  })

  it('can be left while it waits', async () => {
    const vault = await (await openHome()).createVault('base')
    const feed = vault.changes({ follow: true })
    const next = feed.next()
    const done = feed.return(undefined)
    await vault.write('/f', 'x')
    expect((await next).value).toMatchObject({ op: 'write', path: '/f' })
    expect(await done).toMatchObject({ done: true })
    await expect(all(vault, { follow: true, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    })
  })

  it('ends with an error when the vault is deleted', async () => {
    const path = newPlace()
    const [one, other] = [await openHome({ path }), await openHome({ path })]
    await one.createVault('base')
    const theirs = await other.vault('base')
    const following = all(theirs, { follow: true })
    await one.deleteVault('base')
    await expect(following).rejects.toMatchObject({ code: 'ENOENT' })
    await one.close()
    await other.close()
  })
})
