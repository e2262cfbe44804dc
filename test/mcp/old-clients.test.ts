import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Client as CurrentClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ListRootsRequestSchema, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createToolsFeature, McpSession, serveHttp, serveStdio } from '../../src/mcp/index.ts'
import { Cli } from '../cli/run-cli.ts'
import { environment, PROGRAM } from './mcp-client.ts'

const INFO = { name: 'old', version: '1' }

/** A session with a tool that returns its arguments. */
function openSession(): McpSession {
  const echo = createToolsFeature(() => ({
    list: () => [{ name: 'echo', inputSchema: { type: 'object' } }],
    call: async (_name, args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
  }))
  return new McpSession({ info: { name: 'echo', version: '1' }, parts: [echo] })
}

async function startServer(): Promise<URL> {
  const server = await serveHttp(openSession, { port: 0, token: null })
  onTestFinished(() => server.close())
  return new URL(server.url)
}

describe('clients of the first SDK', () => {
  it.each(SUPPORTED_PROTOCOL_VERSIONS)('agree on their protocol revision, %s', async (protocolVersion) => {
    const [input, out] = [new PassThrough(), new PassThrough()]
    const params = { protocolVersion, capabilities: {}, clientInfo: INFO }
    input.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    await serveStdio(openSession, { in: input, out, signal: new AbortController().signal })
    out.end()
    expect(JSON.parse(await text(out))).toMatchObject({ id: 1, result: { protocolVersion } })
  })

  it('work over stdio, with roots', async () => {
    const cli = new Cli()
    const [command = '', ...args] = [...PROGRAM, 'mcp', '--allow-roots']
    const client = new OldClient(INFO, { capabilities: { roots: {} } })
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file://${cli.files}` }] }))
    onTestFinished(() => client.close())
    await client.connect(new OldStdioTransport({ command, args, cwd: cli.files, env: environment(cli) }))
    const path = `${cli.files}/note`
    const written = await client.callTool({ name: 'write_file', arguments: { path, content: 'by the old' } })
    expect(written.isError, JSON.stringify(written)).toBeUndefined()
    const missing = client.readResource({ uri: 'vfs:///shared/none' })
    await expect(missing).rejects.toThrow(/there is no resource/)
  })

  it('work over HTTP', async () => {
    const url = await startServer()
    const client = new OldClient(INFO)
    await client.connect(new OldHttpTransport(url))
    onTestFinished(() => client.close())
    expect(await client.callTool({ name: 'echo', arguments: { a: 1 } })).toEqual({
      content: [{ type: 'text', text: '{"a":1}' }],
    })
  })
})

it('A client that asks for the newest revision first gets it', async () => {
  const url = await startServer()
  const client = new CurrentClient(INFO, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(url))
  onTestFinished(() => client.close())
  expect(client.getProtocolEra()).toBe('modern')
  expect((await client.listTools()).tools).toMatchObject([{ name: 'echo' }])
})
