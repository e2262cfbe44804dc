import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import {
  Client,
  type ElicitResult,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import type { Cli } from '../cli/run-cli.ts'
import { root } from '../support/run-node.ts'

/** The program, as a client starts it. */
export const PROGRAM: readonly string[] = [process.execPath, join(root, 'bin/coppice.js')]

export interface StartedClient {
  readonly client: Client
  readonly transport: StdioClientTransport
}

/** The environment of a test: its own home and context. */
export function environment(cli: Cli): Record<string, string> {
  return { COPPICE_HOME: cli.home, COPPICE_CONTEXT: 'tester', PATH: process.env['PATH'] ?? '' }
}

/** How a client starts the program; as usual when absent. */
interface ProgramStart {
  readonly command?: readonly string[]
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** A real client that started `coppice mcp` itself, and ends it after the test. */
export async function startClient(
  cli: Cli,
  args: readonly string[],
  {
    command = [...becomeUser(cli), ...PROGRAM, 'mcp'],
    cwd = cli.files,
    env = {},
    ...person
  }: Person & ProgramStart = {},
): Promise<StartedClient> {
  const [program = '', ...first] = command
  const transport = new StdioClientTransport({
    command: program,
    args: [...first, ...args],
    cwd,
    env: { ...environment(cli), ...env },
  })
  const client = newClient(person)
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, transport }
}

/** The beginning of a command line that runs the rest as the user of the test. */
function becomeUser({ user }: Cli): string[] {
  if (user === undefined) return []
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', '--']
}

/** A real client of `coppice mcp --http`, which serves until the end of the test. */
export async function startHttpClient(
  cli: Cli,
  args: readonly string[],
  person: Person = {},
): Promise<Client> {
  return connectHttpClient(await listenHttp(cli, args), person)
}

/** Address and token of a server. */
export interface HttpPlace {
  readonly url: string
  readonly token: string
}

/** Starts `coppice mcp --http` on any port, until the end of the test. */
export async function listenHttp(cli: Cli, args: readonly string[]): Promise<HttpPlace> {
  const child = cli.start(['mcp', ...args, '--http', '--port', '0', '--json'], { env: environment(cli) })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  for await (const line of createInterface(child.stdout)) {
    printed += line
    if (line === '}') break
  }
  return JSON.parse(printed)
}

export async function connectHttpClient({ url, token }: HttpPlace, person: Person = {}): Promise<Client> {
  const client = newClient(person)
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  onTestFinished(() => client.close())
  return client
}

/** The person behind a client. */
export interface Person {
  /** Name of the program of the person. */
  readonly program?: string
  /** Directories in which the person works. */
  readonly roots?: readonly string[]
  /** Answer of the person to a question of the server. */
  readonly answer?: (question: string) => ElicitResult | Promise<ElicitResult>
  /** How the program of the person finds a protocol revision; as of old when absent. */
  readonly negotiation?: VersionNegotiationMode
}

/** Creates a client with the capabilities of its person. */
export function newClient({
  program = 'test-client',
  roots,
  answer,
  negotiation = 'legacy',
}: Person = {}): Client {
  const capabilities = {
    ...(roots !== undefined && { roots: { listChanged: true } }),
    ...(answer !== undefined && { elicitation: {} }),
  }
  const options = { capabilities, versionNegotiation: { mode: negotiation } }
  const client = new Client({ name: program, version: '1' }, options)
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => answer(params.message))
  }
  if (roots !== undefined) {
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((path) => ({ uri: pathToFileURL(path).href })),
    }))
  }
  return client
}

/** Calls a tool that must succeed; returns its text. */
export async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { isError, text } = await tryCall(client, name, args)
  expect(isError, text).toBe(false)
  return text
}

/** Calls a tool that may fail. */
export async function tryCall(
  client: Client,
  name: string,
  args: Record<string, unknown>,
): Promise<{ isError: boolean; text: string }> {
  const { content, isError = false } = await client.callTool({ name, arguments: args })
  const [first] = content
  return { isError, text: first?.type === 'text' ? first.text : '' }
}
