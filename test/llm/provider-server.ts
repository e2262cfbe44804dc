import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { anthropicDevice, googleDevice, openaiCompatibleDevice } from '../../src/devices/llm/index.ts'
import type { Device } from '../../src/kernel/index.ts'
import { type Api, requestSchemas } from './request-schemas.ts'

/** A response as a file has it: status line, headers, an empty line, and the body. */
interface StoredResponse {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
  /** True if the connection is destroyed after the body. */
  readonly isCut: boolean
}

/** A provider on this machine. */
export interface ProviderServer {
  readonly device: Device
  /** Bodies of all requests. */
  readonly requests: unknown[]
  /** What the API would refuse in them. */
  readonly violations: string[]
}

/** Starts a provider that plays these stored responses in order, repeats the last, and checks each request. */
export async function startProvider(api: Api, ...names: readonly string[]): Promise<ProviderServer> {
  const responses = await Promise.all(names.map((name) => readResponse(api, name)))
  const requests: unknown[] = []
  const violations: string[] = []
  const server = createServer(async (incoming, response) => {
    const body: unknown = JSON.parse(await readBody(incoming))
    requests.push(body)
    const { url, headers } = incoming
    const checked = requestSchemas[api].safeParse({ url, headers, body })
    if (!checked.success) violations.push(z.prettifyError(checked.error))
    const stored = responses[Math.min(requests.length, responses.length) - 1]
    if (stored !== undefined) play(stored, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port }: AddressInfo = Object.assign({ port: 0, family: '', address: '' }, server.address())
  return { device: createDevice(api, `http://127.0.0.1:${port}`), requests, violations }
}

function createDevice(api: Api, baseUrl: string): Device {
  const options = { baseUrl, apiKey: 'secret', maxRetries: 0 }
  switch (api) {
    case 'anthropic':
      return anthropicDevice({ ...options, model: 'claude-x' })
    case 'google':
      return googleDevice({ ...options, model: 'gemini-x' })
    case 'openai':
      return openaiCompatibleDevice({ ...options, name: api, model: 'gpt-x' })
    case 'ollama':
      return openaiCompatibleDevice({ ...options, apiKey: undefined, name: api, model: 'llama-x' })
  }
}

async function readResponse(api: Api, name: string): Promise<StoredResponse> {
  const file = await readFile(join(import.meta.dirname, 'streams', api, `${name}.http`), 'utf8')
  const end = file.indexOf('\n\n')
  const [statusLine = '', ...lines] = file.slice(0, end).split('\n')
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(lines.map((line) => line.split(': ', 2))),
    body: file.slice(end + 2),
    isCut: name.startsWith('cut-'),
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming) text += chunk
  return text
}

function play({ status, headers, body, isCut }: StoredResponse, response: ServerResponse): void {
  response.writeHead(status, headers)
  if (!isCut) response.end(body)
  else response.write(body, () => setImmediate(() => response.destroy()))
}
