import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { rolldown } from 'rolldown'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'

/** Globals that every browser has. Nothing of Node is among them. */
const WEB_GLOBALS = {
  AbortController,
  AbortSignal,
  TextDecoder,
  TextEncoder,
  // The one that this TextEncoder makes: in a browser both are of one realm.
  Uint8Array,
  clearTimeout,
  console,
  performance,
  queueMicrotask,
  setTimeout,
  structuredClone,
}

/** A program as a page would run it, with every file system and helper that `coppice/vfs` has. */
const PROGRAM = `
import { append, copy, diff, du, glob, grep, hash, mapReduce, MemoryFs, MountTable, move, openFile, OverlayFs, readText, ReadOnlyFs, tail, tree, updateText } from 'coppice/vfs'

export async function run() {
  const files = new MemoryFs({ '/src/cart.ts': '// TODO: add up\\n', '/src/größe.md': '\\ufeffgrün\\n' })
  const table = new MountTable({ '/project': files, '/docs': new ReadOnlyFs(new MemoryFs({ '/a.md': 'a\\n' })) })
  const stage = new OverlayFs(table)
  await stage.write('/project/src/cart.ts', 'export const total = 42\\n')
  const fork = files.fork()
  await append(fork, '/log', 'one\\n')
  await append(fork, '/log', 'two\\n')
  await updateText(fork, '/log', (text) => text.toUpperCase())
  await copy(table, '/docs/a.md', '/project/copy.md')
  await move(table, '/project/copy.md', '/project/moved.md')
  const handle = await openFile(table, '/project/moved.md', { write: true })
  await handle.write(1, new TextEncoder().encode('!'))
  await handle.close()
  const refused = await table.write('/docs/a.md', 'b').catch((error) => error.code)
  return {
    todo: (await Array.fromAsync(grep(table, '/', /TODO/))).map(({ path, line }) => path + ':' + line),
    globbed: await Array.fromAsync(glob(table, '/**/*.md'), ({ path }) => path),
    staged: await stage.diff(),
    read: await readText(files, '/src/größe.md'),
    moved: await readText(table, '/project/moved.md'),
    hash: await hash(stage, '/project/src/cart.ts'),
    changes: await Array.fromAsync(diff(files, fork), ({ kind, path }) => kind + ' ' + path),
    log: await readText(fork, '/log'),
    bytes: (await du(table, '/')).bytes,
    counted: await mapReduce(table, '/', () => 1, (sum, one) => sum + one, 0),
    tree: await tree(table, '/docs'),
    last: await tail(fork, '/log', 1),
    refused,
  }
}
`

async function bundle(): Promise<{ code: string; imports: readonly string[] }> {
  const build = await rolldown({
    input: 'program',
    platform: 'browser',
    resolve: { alias: { 'coppice/vfs': join(root, 'src/public/vfs.ts') } },
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : null),
        load: (id) => (id === 'program' ? PROGRAM : null),
      },
    ],
  })
  const { output } = await build.generate({ format: 'iife', name: 'program' })
  return output[0]
}

describe('in a browser', () => {
  it('`coppice/vfs` bundles without a module of Node and works with the globals of the web', async () => {
    const { code, imports } = await bundle()
    expect(imports).toEqual([])
    const context = createContext({ ...WEB_GLOBALS })
    const result = await runInContext(`${code}\nprogram.run()`, context)
    expect(JSON.parse(JSON.stringify(result))).toEqual({
      todo: ['/project/src/cart.ts:1'],
      globbed: ['/docs/a.md', '/project/moved.md', '/project/src/größe.md'],
      staged: { added: [], modified: ['/project/src/cart.ts'], deleted: [] },
      read: '\ufeffgrün\n',
      moved: 'a!',
      hash: createHash('sha256').update('export const total = 42\n').digest('hex'),
      changes: ['added /log', 'deleted /moved.md'],
      log: 'ONE\nTWO\n',
      bytes: 29,
      counted: 4,
      tree: '/docs/\n└── a.md',
      last: 'TWO\n',
      refused: 'EROFS',
    })
  })
})
