import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { DaemonClient } from './daemon-client.ts'

const EVENTS = 4000

/** Answers a stream with many events at once, and any other request with its method. */
function answer(socket: Socket): void {
  createInterface(socket).on('line', (line) => {
    const { id, method }: { id: number; method: string } = JSON.parse(line)
    const reply = method === 'attach' ? { id, event: 1 } : { id, result: method }
    socket.write(`${JSON.stringify(reply)}\n`.repeat(method === 'attach' ? EVENTS : 1))
  })
}

it('answers calls after a stream with unread events was left', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-client-'))
  const server = createServer(answer).listen(join(directory, 'sock'))
  onTestFinished(() => {
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  await once(server, 'listening')
  await using client = await DaemonClient.connect(join(directory, 'sock'))
  for await (const _ of client.stream('attach', {})) break
  expect(await client.call('status', {})).toBe('status')
})
