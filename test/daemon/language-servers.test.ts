import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { call, openScene, script } from '../support/agent-home.ts'
import { root } from '../support/run-node.ts'

/** Directory of a TypeScript that has a `tsserver`. */
function typescriptDirectory(): string {
  const checker = createRequire(createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json'))
  const near = createRequire(checker.resolve('@arethetypeswrong/core'))
  return dirname(near.resolve('typescript/package.json'))
}

const env = { PATH: `${root}/node_modules/.bin:${process.env['PATH']}` }
const sum = (type: string) => `export function sum(a: ${type}): ${type} { return a }\n`
const USE = "import { sum } from './sum'\nsum\n"
const hover = call('hover', { file: 'use.ts', line: 2, character: 1 })

/** A directory with a project. */
function makeProject(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-code-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, 'node_modules'))
  symlinkSync(typescriptDirectory(), join(directory, 'node_modules/typescript'))
  const files = {
    'tsconfig.json': '{}',
    'sum.ts': sum('number'),
    'use.ts': USE,
    'old.ts': 'export const oldName = 1\n',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  return directory
}

// A sandboxed program has a private /tmp, and does not see programs in that of the machine.
describe.skipIf(root.startsWith(tmpdir()))('a sandboxed language server', () => {
  it('answers queries about the current code of a vault, after changes by anyone', async () => {
    const { home, agents } = await openScene({}, env)
    const vault = await home.vault('base')
    await vault.write('/tsconfig.json', '{}')
    await vault.mkdir('/node_modules')
    await vault.symlink(typescriptDirectory(), '/node_modules/typescript')
    await vault.write('/sum.ts', sum('number'))
    await vault.write('/use.ts', USE)
    const play = script(
      call('documentSymbol', { file: 'sum.ts' }),
      hover,
      call('/dev/fs/sum.ts', { content: sum('string') }),
      hover,
      call(
        '/dev/shell',
        'mv sum.ts total.ts; echo "export { sum } from \\"./total\\"" > sum.ts; rm -f notes.txt',
      ),
      call('/dev/shell', 'sed -i s/string/boolean/g total.ts; echo "export const brandNew = 1" > fresh.ts'),
      hover,
      call('workspaceSymbol', { query: 'brandNew', file: 'use.ts' }),
      'over',
    )
    const { pid } = await agents.spawn({ intent: 'look', vault: 'base', script: play })
    await agents.wait(pid)
    const steps = await agents.steps(pid)
    expect(steps.map(({ tool_error }) => tool_error)).toEqual(Array.from({ length: 9 }, () => ''))
    const said = steps.map(({ tool_result }) => tool_result)
    expect(said[0]).toContain('"name":"sum"')
    expect([said[1], said[3], said[6]]).toEqual(
      ['number', 'string', 'boolean'].map((type) => expect.stringContaining(`sum(a: ${type})`)),
    )
    expect(said[7]).toContain('/workspace/fresh.ts')
  }, 60_000)

  it('sees the files of each fork of a directory, and not those of the directory', async () => {
    const { directory: home, agents } = await openScene({}, env)
    const directory = makeProject()
    const findOld = call('workspaceSymbol', { query: 'oldName', file: 'use.ts' })
    const play = (type: string) =>
      script(
        hover,
        findOld,
        call('/dev/fs/sum.ts', { content: sum(type) }),
        hover,
        call('/dev/shell', `rm old.ts; echo "export const brandNew = 1" > fresh-${type}.ts`),
        call('workspaceSymbol', { query: 'brandNew', file: 'use.ts' }),
        findOld,
        hover,
        'over',
      )
    const readResults = async (type: string) => {
      const { pid } = await agents.spawn({ intent: type, vault: directory, script: play(type) })
      await agents.wait(pid)
      const steps = await agents.steps(pid)
      expect(steps.map(({ tool_error }) => tool_error)).toEqual(steps.map(() => ''))
      return steps.map(({ tool_result }) => tool_result)
    }
    const types = ['string', 'boolean']
    for (const [index, said] of (await Promise.all(types.map(readResults))).entries()) {
      expect(said[0]).toContain('sum(a: number)')
      expect(said[1]).toContain('/workspace/old.ts')
      expect(said[3]).toContain(`sum(a: ${types[index]})`)
      expect(said[5]).toContain(`/workspace/fresh-${types[index]}.ts`)
      expect(said[5]).toContain('"count":1')
      expect(said[6]).toContain('"count":0')
      expect(said[7]).toContain(`sum(a: ${types[index]})`)
    }
    expect(readFileSync(join(directory, 'sum.ts'), 'utf8')).toBe(sum('number'))
    expect(readdirSync(directory).sort()).toEqual([
      'node_modules',
      'old.ts',
      'sum.ts',
      'tsconfig.json',
      'use.ts',
    ])
    expect(readdirSync(join(home, 'sessions'))).toEqual([])
  }, 120_000)
})
