import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeviceContext, DeviceRegistry, O_RDWR, sendDeviceRequest } from '../../kernel/index.ts'
import { MemoryFs } from '../../vfs/index.ts'
import {
  defaultServers,
  type LanguageServerSpec,
  type LspDevice,
  type LspDeviceOptions,
  lspDevice,
} from './index.ts'

const require = createRequire(import.meta.url)

/** The installed server, with a TypeScript that has a `tsserver`. */
function typescriptServer(): LanguageServerSpec {
  const usual = defaultServers.find(({ name }) => name === 'typescript-language-server')
  if (usual === undefined) throw new Error('there is no TypeScript in the table')
  const checker = createRequire(require.resolve('@arethetypeswrong/cli/package.json'))
  const near = createRequire(checker.resolve('@arethetypeswrong/core'))
  return {
    ...usual,
    command: process.execPath,
    args: [require.resolve('typescript-language-server/lib/cli.mjs'), ...usual.args],
    initializationOptions: {
      ...usual.initializationOptions,
      tsserver: { path: near.resolve('typescript/lib/tsserver.js'), useSyntaxServer: 'never' },
    },
  }
}

const project = {
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "types": [], "noEmit": true, "allowImportingTsExtensions": true, "module": "nodenext" }, "include": ["src"] }',
  'src/shape.ts': 'export interface Shape {\n  area(): number\n}\n',
  'src/square.ts':
    "import type { Shape } from './shape.ts'\n\n/** Has four sides. */\nexport class Square implements Shape {\n  area(): number {\n    return side() ** 2\n  }\n}\n\nfunction side(): number {\n  return 2\n}\n",
}

let directory: string
let device: LspDevice

async function surroundings(files: Readonly<Record<string, string>>, options: Partial<LspDeviceOptions>) {
  directory = await mkdtemp(join(tmpdir(), 'lsp-'))
  const inWorkspace: Record<string, string> = {}
  for (const [path, content] of Object.entries(files)) {
    inWorkspace[`/workspace/${path}`] = content
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  const fs = new MemoryFs(inWorkspace)
  const devices = new DeviceRegistry()
  device = lspDevice({ checkout: async () => ({ directory, wrapCommand: (words) => words }), ...options })
  devices.register('/dev/lsp', device)
  const ctx: DeviceContext = {
    pid: 7,
    caller: { kind: 'process', pid: 7, context: 'coder' },
    fs,
    signal: new AbortController().signal,
  }
  const ask = async (op: string, body: object, signal?: AbortSignal) =>
    JSON.parse(await sendDeviceRequest(await devices.open(`/dev/lsp/${op}`, O_RDWR, ctx), body, signal))
  return { fs, ask, devices }
}

async function end(): Promise<void> {
  await device.close()
  await rm(directory, { recursive: true })
}

describe('lspDevice with the TypeScript server', () => {
  let ask: (op: string, body: object) => Promise<Record<string, unknown>>
  let fs: MemoryFs
  const squareLine = { file: 'src/square.ts', line: 4, character: 15 }

  beforeAll(async () => {
    const made = await surroundings(project, { servers: [typescriptServer()] })
    ask = made.ask
    fs = made.fs
  })
  afterAll(end)

  it('finds a definition in another file', async () => {
    expect(await ask('goToDefinition', { file: 'src/square.ts', line: 4, character: 33 })).toEqual({
      locations: [
        {
          file: '/workspace/src/shape.ts',
          line: 1,
          character: 18,
          end_line: 1,
          end_character: 23,
          text: 'export interface Shape {',
        },
      ],
      count: 1,
    })
  })

  it('finds references and implementations', async () => {
    const at = { file: 'vfs:///workspace/src/shape.ts', line: 1, character: 18 }
    const references = await ask('findReferences', at)
    expect(references).toMatchObject({ count: 3 })
    expect(await ask('goToImplementation', at)).toMatchObject({
      locations: [{ file: '/workspace/src/square.ts', line: 4 }],
    })
  })

  it('returns types and documentation', async () => {
    expect(await ask('hover', squareLine)).toMatchObject({
      text: expect.stringMatching(/class Square[\s\S]*four sides/),
    })
  })

  it('lists the symbols of a file and finds some in the workspace', async () => {
    expect(await ask('documentSymbol', { file: '/workspace/src/square.ts' })).toMatchObject({
      symbols: [
        { name: 'Square', kind: 'class', line: 4 },
        { name: 'area', kind: 'method', container: 'Square', line: 5 },
        { name: 'side', kind: 'function', line: 10 },
      ],
      count: 3,
    })
    const found = { symbols: [{ name: 'Square', file: '/workspace/src/square.ts' }] }
    expect(await ask('workspaceSymbol', { query: 'Square' })).toMatchObject(found)
    expect(await ask('workspaceSymbol', { query: 'Square', file: 'src/shape.ts' })).toMatchObject(found)
  })

  it('follows calls both ways', async () => {
    const side = { file: 'src/square.ts', line: 10, character: 10 }
    expect(await ask('prepareCallHierarchy', side)).toMatchObject({ items: [{ name: 'side', line: 10 }] })
    expect(await ask('incomingCalls', side)).toMatchObject({
      calls: [{ from: { name: 'area' }, lines: [6] }],
    })
    expect(await ask('outgoingCalls', { ...side, line: 5, character: 3 })).toMatchObject({
      calls: [{ to: { name: 'side' }, lines: [6] }],
    })
  })

  it('sees a file as the process does, not as it was checked out', async () => {
    await fs.write('/workspace/src/new.ts', 'export const first = 1\n')
    expect(await ask('documentSymbol', { file: 'src/new.ts' })).toMatchObject({
      symbols: [{ name: 'first' }],
    })
    await fs.write('/workspace/src/new.ts', 'export const second = 2\n')
    expect(await ask('documentSymbol', { file: 'src/new.ts' })).toMatchObject({
      symbols: [{ name: 'second' }],
    })
  })

  it('refuses files outside, missing files and invalid positions', async () => {
    await expect(ask('documentSymbol', { file: '/etc/a.ts' })).rejects.toMatchObject({ code: 'EACCES' })
    await expect(ask('documentSymbol', { file: 'src/none.ts' })).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(ask('documentSymbol', { file: 'notes.md' })).rejects.toThrow(/ENOTSUP.*\.ts/)
    await expect(ask('hover', { ...squareLine, line: 0 })).rejects.toThrow(/'line': is counted from 1/)
  })
})

/** A small server that hangs on hover, crashes on definitions and returns its pid. */
const fake: LanguageServerSpec = {
  name: 'fake',
  languages: { '.fake': 'fake' },
  command: process.execPath,
  args: [
    '-e',
    `let text = ''
    const send = (message) => {
      const body = JSON.stringify({ jsonrpc: '2.0', ...message })
      process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body)
    }
    const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }
    let cancelled = 0
    process.stdin.on('end', () => process.exit()).on('data', (chunk) => {
      text += chunk
      for (;;) {
        const found = /Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text)
        if (found === null || text.length < found.index + found[0].length + Number(found[1])) return
        const start = found.index + found[0].length
        const { id, method } = JSON.parse(text.slice(start, start + Number(found[1])))
        text = text.slice(start + Number(found[1]))
        if (method === 'initialize') send({ id, result: { capabilities: {} } })
        if (method === 'textDocument/definition') { console.error('out of memory'); process.exit(1) }
        if (method === 'textDocument/implementation') send({ id, error: { code: -32603, message: 'no idea' } })
        if (method === '$/cancelRequest') cancelled++
        if (method === 'textDocument/documentSymbol') send({ id, result: [{ name: process.pid + ' ' + cancelled, kind: 13, range, selectionRange: range }] })
      }
    })`,
  ],
  install: 'make fake',
}

describe('lspDevice with servers that fail', () => {
  let ask: Awaited<ReturnType<typeof surroundings>>['ask']
  const at = { file: 'a.fake', line: 1, character: 1 }

  const start = async (spec: LanguageServerSpec = fake, options: Partial<LspDeviceOptions> = {}) => {
    ask = (await surroundings({ 'a.fake': 'text' }, { servers: [spec], ...options })).ask
  }
  const nameOf = async (): Promise<string> =>
    (await ask('documentSymbol', { file: 'a.fake' })).symbols[0].name
  const pidOf = async () => Number((await nameOf()).split(' ')[0])

  beforeEach(() => {
    ask = () => Promise.reject(new Error('not started'))
  })
  afterEach(end)

  it('names the server to install if it is missing', async () => {
    await start({ ...fake, command: '/no/such/server' })
    await expect(ask('hover', at)).rejects.toThrow(/EUNAVAILABLE.*install it: make fake/)
  })

  it('starts a server inside the given command line', async () => {
    const enclosed = (words: readonly string[]) => ['/usr/bin/env', 'ENCLOSED=yes', ...words]
    await start(
      { ...fake, command: '/no/such/server' },
      { checkout: async () => ({ directory, wrapCommand: enclosed }) },
    )
    await expect(ask('hover', at)).rejects.toThrow(
      /EUNAVAILABLE.*env: .*no\/such\/server.*install it: make fake/,
    )
  })

  it('reports why a server died, and restarts it on the next request', async () => {
    await start()
    const first = await pidOf()
    await expect(ask('goToDefinition', at)).rejects.toThrow(/EUNAVAILABLE.*out of memory/)
    expect(await pidOf()).not.toBe(first)
  })

  it('reports an error of the server, and keeps using it', async () => {
    await start()
    const first = await pidOf()
    await expect(ask('goToImplementation', at)).rejects.toThrow(/EIO.*no idea/)
    expect(await pidOf()).toBe(first)
  })

  it('gives up on a server that does not answer, and cancels the request', async () => {
    await start(fake, { timeoutMs: 3000 })
    await expect(ask('hover', at)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(await nameOf()).toMatch(/ 1$/)
  })

  it('ends a request with its process', async () => {
    await start()
    const first = await pidOf()
    const killed = new AbortController()
    const asked = ask('hover', at, killed.signal)
    killed.abort(new Error('killed'))
    await expect(asked).rejects.toThrow('killed')
    expect(await pidOf()).toBe(first)
  })

  it('ends an idle server, and those of a released directory', async () => {
    await start(fake, { idleMs: 1 })
    const first = await pidOf()
    await expect.poll(() => isAlive(first)).toBe(false)
    const second = await pidOf()
    await device.release(directory)
    expect(isAlive(second)).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
