import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ClientConnection } from './client-connection.ts'
import type { DaemonMethod } from './daemon-service.ts'

/** Creates both ends of a connection whose only method returns many characters. */
async function connected(): Promise<{ readonly client: Socket; readonly served: Socket }> {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-connection-'))
  const server = createServer()
  onTestFinished(() => {
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  server.listen(join(directory, 'sock'))
  const accepted = Promise.withResolvers<Socket>()
  server.once('connection', accepted.resolve)
  const client = connect(join(directory, 'sock'))
  onTestFinished(() => void client.destroy())
  const served = await accepted.promise
  const methods: ReadonlyMap<string, DaemonMethod> = new Map([
    ['long', { answer: async () => 'x'.repeat(10_000) }],
  ])
  new ClientConnection(served, methods)
  return { client, served }
}

it('stops reading from a client that does not read its responses, until it does', async () => {
  const { client, served } = await connected()
  const requests = 2000
  for (let id = 1; id <= requests; id++) client.write(`${JSON.stringify({ v: 1, id, method: 'long' })}\n`)
  await expect.poll(() => served.isPaused()).toBe(true)
  let lines = 0
  client.on('data', (chunk) => {
    lines += chunk.toString().split('\n').length - 1
  })
  await expect.poll(() => lines, { timeout: 10_000 }).toBe(requests)
})
