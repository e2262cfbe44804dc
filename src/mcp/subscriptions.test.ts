import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { McpSession } from './mcp-session.ts'
import type { ResourceChange, ResourceSource } from './resource-source.ts'
import { createResourcesFeature } from './resources-feature.ts'

/** Resources that the test changes, with their watchers. */
class Watched implements ResourceSource {
  watchers = 0
  #news = Promise.withResolvers<ResourceChange>()

  async list(): Promise<{ resources: [] }> {
    return { resources: [] }
  }

  templates(): [] {
    return []
  }

  async read(): Promise<[]> {
    return []
  }

  assertKnown(): void {}

  async *changes(signal: AbortSignal): AsyncGenerator<ResourceChange> {
    const stopped = Promise.withResolvers<never>()
    stopped.promise.catch(() => {})
    signal.addEventListener('abort', () => stopped.reject(signal.reason), { once: true })
    this.watchers++
    try {
      for (;;) yield await Promise.race([this.#news.promise, stopped.promise])
    } finally {
      this.watchers--
    }
  }

  change(uri: string): void {
    const { resolve } = this.#news
    this.#news = Promise.withResolvers()
    resolve({ affects: (other) => other === uri, affectsList: false })
  }

  fail(error: Error): void {
    this.#news.reject(error)
  }
}

async function clientOf(source: ResourceSource): Promise<{ client: Client; session: McpSession }> {
  const session = new McpSession({
    info: { name: 'test', version: '1' },
    parts: [createResourcesFeature(source)],
  })
  const client = new Client({ name: 'test', version: '1' })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await session.connect(ours)
  await client.connect(theirs)
  onTestFinished(() => session.close())
  return { client, session }
}

describe('the subscriptions of a session', () => {
  it('watch nothing before the first request, use one feed, and end with the session', async () => {
    const source = new Watched()
    const { client } = await clientOf(source)
    await client.ping()
    expect(source.watchers).toBe(0)
    await client.subscribeResource({ uri: 'test://a' })
    await client.subscribeResource({ uri: 'test://b' })
    await client.listResources()
    expect(source.watchers).toBe(1)
    await client.close()
    await vi.waitFor(() => expect(source.watchers).toBe(0), 20_000)
  })

  it('notify at once, then once for many changes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const source = new Watched()
    const { client } = await clientOf(source)
    const updated: string[] = []
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updated.push(params.uri),
    )
    await client.subscribeResource({ uri: 'test://a' })
    for (let changes = 0; changes < 50; changes++) {
      source.change('test://a')
      await client.ping()
    }
    expect(updated).toEqual(['test://a'])
    vi.advanceTimersByTime(1000)
    await client.ping()
    expect(updated).toEqual(['test://a', 'test://a'])
  })

  it('report a failure to the client and continue the session', async () => {
    const source = new Watched()
    const { client } = await clientOf(source)
    const logged: unknown[] = []
    client.fallbackNotificationHandler = async ({ params }) => void logged.push(params)
    await client.subscribeResource({ uri: 'test://a' })
    source.fail(new Error('the disk is gone'))
    await vi.waitFor(() => expect(logged).toMatchObject([{ level: 'error' }]), 20_000)
    await expect(client.ping()).resolves.toEqual({})
  })

  it('have a limit, whose error names the alternative', async () => {
    const { client } = await clientOf(new Watched())
    for (let index = 0; index < 1000; index++) await client.subscribeResource({ uri: `test://${index}` })
    await client.subscribeResource({ uri: 'test://0' })
    await expect(client.subscribeResource({ uri: 'test://more' })).rejects.toThrow(/subscribe to a directory/)
  })
})
