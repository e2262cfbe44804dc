import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, LOG_LEVEL_META_KEY, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import {
  call,
  connectHttpClient,
  listenHttp,
  type Person,
  startClient,
  startHttpClient,
  tryCall,
} from './mcp-client.ts'

const NEWEST = '2026-07-28'
const gated = { command: 'curl -s --version > /dev/null; echo ran' }
const URI = 'vfs:///workspace/notes.txt'

interface Revision {
  readonly negotiation: VersionNegotiationMode
  readonly version: string
  readonly era: 'legacy' | 'modern'
  subscribe(client: Client, uri: string): Promise<unknown>
  /** Calls a tool of which the client wants every log message. */
  callLogged(client: Client, name: string, args: Record<string, unknown>): Promise<unknown>
}

const listen = (client: Client, uri: string) => client.listen({ resourceSubscriptions: [uri] })
const callLogged: Revision['callLogged'] = (client, name, args) =>
  client.callTool({ name, arguments: args, _meta: { [LOG_LEVEL_META_KEY]: 'debug' } })
const modern = { version: NEWEST, era: 'modern', subscribe: listen, callLogged } as const

const revisions: readonly [name: string, revision: Revision][] = [
  [
    'before 2026-07-28',
    {
      negotiation: 'legacy',
      version: '2025-11-25',
      era: 'legacy',
      subscribe: (client, uri) => client.subscribeResource({ uri }),
      async callLogged(client, name, args) {
        await client.setLoggingLevel('debug')
        return client.callTool({ name, arguments: args })
      },
    },
  ],
  [NEWEST, { negotiation: { pin: NEWEST }, ...modern }],
  ['of its choice', { negotiation: 'auto', ...modern }],
]

type Start = (cli: Cli, args: readonly string[], person: Person) => Promise<Client>

const startStdio: Start = async (...given) => (await startClient(...given)).client
const cases = revisions.flatMap(([name, revision]): [string, string, Revision, Start][] => [
  [name, 'stdio', revision, startStdio],
  [name, 'HTTP', revision, startHttpClient],
])

describe.each(cases)('a client with the revision %s over %s', (_name, _transport, revision, start) => {
  async function connect(person: Person = {}, args: readonly string[] = ['--vault', 'base']) {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    return { cli, client: await start(cli, args, { ...person, negotiation: revision.negotiation }) }
  }

  it('speaks it, and uses tools and resources', async () => {
    const { client } = await connect()
    expect(client.getNegotiatedProtocolVersion()).toBe(revision.version)
    expect(client.getProtocolEra()).toBe(revision.era)
    expect(client.getInstructions()).toContain('/workspace')
    await call(client, 'write_file', { path: 'notes.txt', content: 'one' })
    expect(await call(client, 'file_read', { path: 'notes.txt' })).toContain('one')
    expect((await client.readResource({ uri: URI })).contents).toMatchObject([{ text: 'one' }])
    await expect(client.callTool({ name: 'none', arguments: {} })).rejects.toThrow("there is no tool 'none'")
  })

  it('asks its person, and runs only what was allowed', async () => {
    const questions: string[] = []
    const answers = [{ allow: true }, { allow: false }]
    const answer = (question: string) => {
      questions.push(question)
      return { action: 'accept' as const, content: answers.shift() ?? {} }
    }
    const { client } = await connect({ answer })
    expect(await call(client, 'shell_exec', gated)).toContain('--- stdout\nran')
    const denied = await tryCall(client, 'shell_exec', gated)
    expect(denied.text).toMatch(/EACCES.*a person denied it/)
    expect(questions).toEqual([expect.stringContaining('curl'), expect.stringContaining('curl')])
  })

  it('opens files of the machine below its roots alone', async () => {
    const cli = new Cli()
    const [inside, outside] = [join(cli.files, 'in.txt'), join(cli.home, 'out.txt')]
    writeFileSync(inside, 'inside')
    const client = await start(cli, ['--allow-roots'], {
      roots: [cli.files],
      negotiation: revision.negotiation,
    })
    expect(await call(client, 'file_read', { path: inside })).toContain('inside')
    expect((await tryCall(client, 'file_read', { path: outside })).text).toContain('EACCES')
  })

  it('gets changes of the resources it subscribed to', async () => {
    const { client } = await connect()
    const changes = new EventTarget()
    const updated: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri)
      changes.dispatchEvent(new Event('change'))
    })
    await revision.subscribe(client, URI)
    const changed = once(changes, 'change')
    await call(client, 'write_file', { path: 'other.txt', content: 'two' })
    await call(client, 'write_file', { path: 'notes.txt', content: 'two' })
    await changed
    expect(new Set(updated)).toEqual(new Set([URI]))
  })

  it('gets the log messages that it asked for', async () => {
    const { client } = await connect()
    const messages: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void messages.push(params.data))
    await call(client, 'vfs_list', { path: 'vfs:///' })
    expect(messages).toEqual([])
    await revision.callLogged(client, 'vfs_list', { path: 'vfs:///' })
    expect(messages).toMatchObject([{ tool: 'vfs_list', failed: false }])
  })
})

describe('clients without a session', () => {
  it('may not edit what another program changed since they read it', async () => {
    const cli = new Cli()
    await cli.ok('vault', 'create', 'base')
    const place = await listenHttp(cli, ['--vault', 'base'])
    const [one, two] = await Promise.all(
      ['one', 'two'].map((program) => connectHttpClient(place, { program, negotiation: { pin: NEWEST } })),
    )
    if (one === undefined || two === undefined) throw new Error('no clients')
    await call(one, 'write_file', { path: 'a.txt', content: 'first\nlast\n' })
    await call(two, 'file_read', { path: 'a.txt' })
    await call(two, 'file_edit', {
      path: 'a.txt',
      operation: 'replace_lines',
      start: 1,
      end: 1,
      content: 'new',
    })
    const edit = { path: 'a.txt', operation: 'replace_lines', start: 2, end: 2, content: 'end' }
    expect(await tryCall(one, 'file_edit', edit)).toMatchObject({
      isError: true,
      text: expect.stringContaining('ECONFLICT'),
    })
    await call(one, 'file_read', { path: 'a.txt' })
    await call(one, 'file_edit', edit)
    expect(await cli.ok('cat', '/a.txt', '--vault', 'base')).toBe('new\nend\n')
  })
})
