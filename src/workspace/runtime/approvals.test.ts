import { describe, expect, it } from 'vitest'
import { type DirEntry, MemoryFs } from '../../vfs/index.ts'
import { executionRequest } from '../policy/index.ts'
import { Approvals } from './index.ts'

const harmless = executionRequest({ vault: 'v', command: { argv: ['curl', 'https://example.org'] } })
const another = executionRequest({ vault: 'v', command: { argv: ['curl', 'https://example.com'] } })

/** Creates two requests with the same short id, as an attacker would. */
async function sharingAnId(): Promise<{ approvals: Approvals; id: string }> {
  const fs = new MemoryFs()
  const approvals = new Approvals(fs)
  const [id, first] = [await approvals.request(another, {}), await approvals.request(harmless, {})]
  const record = (await approvals.list()).find((one) => one.id === first)
  await fs.remove(`/approvals/${first}.json`)
  await fs.write(`/approvals/${id}.json`, JSON.stringify({ ...record, id }))
  return { approvals, id }
}

describe('a request with the id of another', () => {
  it('does not run because the other was approved', async () => {
    const { approvals, id } = await sharingAnId()
    await approvals.approve(id)
    expect(await approvals.consume(another)).toBe(false)
  })

  it('does not replace the other, waits beside it, and runs after its own approval', async () => {
    const { approvals, id } = await sharingAnId()
    const own = await approvals.request(another, {})
    expect(own.startsWith(id) && own.length > id.length).toBe(true)
    expect((await approvals.list()).map(({ command }) => command)).toEqual([
      harmless.command,
      another.command,
    ])
    await approvals.approve(own)
    expect([await approvals.consume(another), await approvals.consume(another)]).toEqual([true, false])
    expect((await approvals.list()).map((one) => one.id)).toEqual([id])
  })
})

it('a request is approved for its kind of session alone', async () => {
  const approvals = new Approvals(new MemoryFs())
  const copied = { ...harmless, session: 'dir' } as const
  await approvals.approve(await approvals.request(harmless, {}))
  expect(await approvals.consume(copied)).toBe(false)
  const own = await approvals.request(copied, {})
  await approvals.approve(own)
  expect(await approvals.consume({ ...copied, session: 'overlay' })).toBe(false)
  expect([await approvals.consume(copied), await approvals.consume(harmless)]).toEqual([true, true])
})

/** A file system that others change between the listing of a directory and the next call. */
class Contested extends MemoryFs {
  readonly taken: string[] = []

  override async *readdir(...args: Parameters<MemoryFs['readdir']>): AsyncGenerator<DirEntry> {
    for await (const entry of super.readdir(...args)) {
      const path = `${args[0]}/${entry.name}`
      if (this.taken.includes(path)) await this.remove(path)
      yield entry
    }
  }
}

it('lists waiting requests although one is consumed meanwhile', async () => {
  const fs = new Contested()
  const approvals = new Approvals(fs)
  const [kept, taken] = [await approvals.request(harmless, {}), await approvals.request(another, {})]
  fs.taken.push(`/approvals/${taken}.json`)
  expect((await approvals.list()).map(({ id }) => id)).toEqual([kept])
})

it('shows the whole request for approval', async () => {
  const approvals = new Approvals(new MemoryFs())
  const request = { ...harmless, cwd: '/sub', env: { NAME: 'value' }, network: true, stdin: 'input' }
  await approvals.request(request, { reason: 'why' })
  const { vault, cwd, command, env, network, isolation, stdin } = request
  expect(await approvals.list()).toMatchObject([
    { vault, cwd, command, env, network, isolation, stdin, reason: 'why', approved: null },
  ])
})

describe('an answer to a request', () => {
  it('is kept when the same request is repeated', async () => {
    const approvals = new Approvals(new MemoryFs())
    const ids = [await approvals.request(harmless, {}), await approvals.request(another, {})] as const
    await approvals.approve(ids[0])
    await approvals.deny(ids[1])
    expect([await approvals.request(harmless, {}), await approvals.request(another, {})]).toEqual(ids)
    expect(await approvals.consume(harmless)).toBe(true)
    expect(await approvals.isDenied(another)).toBe(true)
  })

  it('stays when another person denies it too, unlike a request that only waits', async () => {
    const approvals = new Approvals(new MemoryFs())
    await approvals.request(harmless, {})
    await approvals.deny(await approvals.request(another, {}))
    for (const request of [harmless, another]) await approvals.withdraw(request)
    expect((await approvals.list()).map(({ command }) => command)).toEqual([another.command])
    expect(await approvals.isDenied(another)).toBe(true)
  })
})
