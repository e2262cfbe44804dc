import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openRemoteGit } from '../../src/backends/git/index.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-hostile-git-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const ID = '1'.repeat(40)

/** Frames a line for Git's protocol. */
function packet(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`
}

/** Sends the same bytes until the client disconnects. */
function sendForever(response: ServerResponse, piece: string): void {
  const send = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', send)
  send()
}

/** Returns the error of opening from a server with these responses. */
async function refusalBy(answer: RequestListener, more: object): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  try {
    const cache = mkdtempSync(join(scratch, 'cache-'))
    return await openRemoteGit(`http://127.0.0.1:${port}/r`, { cache, ...more }).then(
      () => 'it was opened',
      (error: Error) => error.message,
    )
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

/** Sends an advertisement of the old protocol, in which the server lists every ref. */
function advertise(response: ServerResponse): void {
  response.setHeader('content-type', 'application/x-git-upload-pack-advertisement')
  response.write(`${packet('# service=git-upload-pack\n')}0000${packet(`${ID} HEAD\0filter\n`)}`)
}

describe('a hostile Git server', () => {
  it('that lists refs without end is stopped at the memory limit', async () => {
    const refs = Array.from({ length: 1000 }, (_, at) => packet(`${ID} refs/heads/${'x'.repeat(200)}${at}\n`))
    const answer: RequestListener = (_request, response) => {
      advertise(response)
      sendForever(response, refs.join(''))
    }
    const refusal = await refusalBy(answer, { maxMemoryBytes: 64 * 1024 * 1024, timeoutMs: 60_000 })
    expect(refusal).toMatch(/^EUNAVAILABLE: git could not fetch: .*(?:[Oo]ut of memory|memory)/)
  })

  it('that never answers is stopped at the deadline', async () => {
    expect(await refusalBy(() => {}, { timeoutMs: 500 })).toMatch(
      /^ETIMEDOUT: the fetch took longer than 500 ms/,
    )
  })

  it.each(['refs/heads/../../config', '../../hooks/post-checkout', 'refs/heads/a..b'])(
    'that lists %s is refused',
    async (name) => {
      const answer: RequestListener = (_request, response) => {
        advertise(response)
        response.end(`${packet(`${ID} ${name}\n`)}0000`)
      }
      expect(await refusalBy(answer, { ref: 'main', timeoutMs: 60_000 })).toMatch(
        /^(?:ENOENT|EUNAVAILABLE): git could not fetch/,
      )
    },
  )
})
