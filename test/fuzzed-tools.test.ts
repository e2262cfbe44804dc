import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../src/backends/vault/index.ts'
import { openNamespace } from '../src/namespace/index.ts'
import { createToolRegistry, type ToolInfo, type ToolRegistry } from '../src/tools/index.ts'
import { errorCodes, type FileSystem, MemoryFs, readText } from '../src/vfs/index.ts'

interface Call {
  readonly name: string
  readonly args: unknown
}

const text = fc.oneof(
  fc.constantFrom('vfs:///a', 'vfs:///d', 'vfs:///d/b', 'vfs:///new', 'vfs:///', 'vfs:///workspace', '/a'),
  // Names of checkpoints and forks, and commands that change nothing.
  fc.constantFrom(
    '',
    '(',
    '**',
    'x',
    'start',
    'project',
    'zones',
    'boundary',
    'true',
    'exit 3',
    '-rf',
    '\ud800',
  ),
  fc.string({ unit: 'binary', maxLength: 10 }),
)
const value = fc.oneof(
  { weight: 5, arbitrary: text },
  { weight: 1, arbitrary: fc.integer({ min: -2, max: 5 }) },
  { weight: 1, arbitrary: fc.boolean() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'replace_lines',
      'insert_before',
      'insert_after',
      'delete_lines',
      'replace_string',
      'theirs',
    ),
  },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
)

/** Generates mostly values of the schema's type, since others are refused early. */
function valueFor(schema: unknown): fc.Arbitrary<unknown> {
  const type = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined
  const fitting = {
    string: text,
    integer: fc.integer({ min: 1, max: 5 }),
    boolean: fc.boolean(),
    array: fc.array(text, { minLength: 1, maxLength: 2 }),
  }
  const right = Object.entries(fitting).find(([name]) => name === type)?.[1] ?? value
  return fc.oneof({ weight: 6, arbitrary: right }, { weight: 1, arbitrary: value })
}

/** Generates a call of one of the tools with nearly valid or invalid arguments. */
function callOf(tools: readonly ToolInfo[]): fc.Arbitrary<Call> {
  return fc.constantFrom(...tools).chain(({ name, inputSchema }) => {
    const properties = Object.entries(inputSchema['properties'] ?? {})
    const known = properties.map(([some]) => some)
    const key = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, fc.string())
    const values = Object.fromEntries(properties.map(([some, schema]) => [some, valueFor(schema)]))
    const fitting = fc.record(values, { requiredKeys: [] })
    const args = fc.oneof(
      { weight: 6, arbitrary: fitting },
      { weight: 2, arbitrary: fc.dictionary(key, value) },
      { weight: 1, arbitrary: fc.jsonValue() },
    )
    return fc.record({ name: fc.constant(name), args })
  })
}

async function stateOf(fs: FileSystem, root = '/'): Promise<Record<string, string>> {
  const state: Record<string, string> = {}
  for await (const { path, stat } of fs.walk(root, { includeDirs: true })) {
    state[path] = stat.type === 'file' ? await readText(fs, path) : stat.type
  }
  return state
}

/** Expects a clean result, and for a failure an unchanged state. */
async function expectClean(
  tools: ToolRegistry,
  { name, args }: Call,
  state: () => Promise<unknown>,
): Promise<void> {
  const before = await state()
  const result = await tools.call(name, args)
  expect(typeof result.text).toBe('string')
  if (!result.isError) return
  expect(Object.keys(errorCodes)).toContain(result.error?.code)
  expect(result.error?.code).not.toBe('EINTERNAL')
  expect(result.text).toMatch(/^E[A-Z]+: ./)
  expect(await state()).toEqual(before)
}

it('file tools return a clean result for any input, and a failed call changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(callOf(createToolRegistry(new MemoryFs()).tools), async (call) => {
      const fs = new MemoryFs({ '/a': 'one\ntwo\n', '/d/b': 'x\r\n', '/d/c': Uint8Array.of(0, 255) })
      await expectClean(createToolRegistry({ fs }), call, () => stateOf(fs))
    }),
    { numRuns: 2000 },
  )
})

it('workspace tools do so too, including commands', async () => {
  const path = mkdtempSync(join(tmpdir(), 'coppice-fuzzed-'))
  const home = await openHome({ path })
  const vault = await home.createVault('project')
  await vault.write('/notes.md', 'one\n')
  await vault.checkpoint('start')
  const commands = { env: { PATH: process.env['PATH'] ?? '' } }
  const namespace = await openNamespace({ home, context: 'anna', vault: 'project', commands })
  onTestFinished(async () => {
    await namespace.close()
    await home.close()
    rmSync(path, { recursive: true, force: true })
  })
  const tools = namespace.tools()
  const own = tools.tools.filter(({ name }) => /^(?:workspace_|shell_exec)/.test(name))
  expect(own).toHaveLength(7)
  const state = async () => ({
    files: await stateOf(vault),
    checkpoints: (await vault.checkpoints()).map(({ name }) => name),
    // The boundary creates its journal with the first command.
    vaults: (await home.vaults()).filter((name) => !/^(?:boundary|checkout-)/.test(name)),
  })
  await fc.assert(
    fc.asyncProperty(callOf(own), (call) => expectClean(tools, call, state)),
    { numRuns: 400 },
  )
})
