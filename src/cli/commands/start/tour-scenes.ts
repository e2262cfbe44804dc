import assert from 'node:assert/strict'
import {
  diff,
  grep,
  isVfsError,
  MemoryFs,
  MountTable,
  OverlayFs,
  ReadOnlyFs,
  readText,
  tree,
} from '../../../vfs/index.ts'

/** One step of the tour: what is done, the code that does it, and what came of it. */
export interface Scene {
  readonly title: string
  readonly code: string
  readonly result: string
}

const FORKED_FILES = 10_000

/** The tour. Each scene runs its own code for real and asserts the outcome before it is shown. */
export async function* runTourScenes(): AsyncGenerator<Scene> {
  const project = new MemoryFs({
    '/README.md': '# Shop\n',
    '/src/cart.ts': 'export const total = (prices: number[]) => 0 // TODO: add up\n',
    '/src/old.ts': '// TODO: delete this file\n',
  })
  const library = new ReadOnlyFs(new MemoryFs({ '/style.md': 'Names say what a thing is.\n' }))
  const ns = new MountTable({ '/project': project, '/library': library, '/scratch': new MemoryFs() })
  yield await runMountScene(ns)
  yield await runWriteScene(ns)
  yield await runSearchScene(ns)
  yield await runErrorScene(ns)
  const stage = new OverlayFs(ns)
  yield await runStageScene(ns, stage)
  yield await runCommitScene(ns, stage)
  yield await runForkScene()
}

async function runMountScene(ns: MountTable): Promise<Scene> {
  const result = await tree(ns)
  assert.ok(result.includes('cart.ts'))
  return {
    title: '1. Many file systems, one namespace',
    code: `const ns = new MountTable({ '/project': project, '/library': new ReadOnlyFs(docs), '/scratch': new MemoryFs() })
await tree(ns)`,
    result,
  }
}

async function runWriteScene(ns: MountTable): Promise<Scene> {
  await ns.write('/scratch/plan/notes.md', 'first\nsecond\nthird\nfourth\n')
  const result = await readText(ns, '/scratch/plan/notes.md', { lineRange: [2, 3] })
  assert.equal(result, 'second\nthird')
  return {
    title: '2. Write anywhere, read only what you need',
    code: `await ns.write('/scratch/plan/notes.md', 'first\\nsecond\\nthird\\nfourth\\n')
await readText(ns, '/scratch/plan/notes.md', { lineRange: [2, 3] })`,
    result,
  }
}

async function runSearchScene(ns: MountTable): Promise<Scene> {
  const found = await Array.fromAsync(grep(ns, '/', 'TODO'))
  assert.deepEqual(
    found.map(({ path }) => path),
    ['/project/src/cart.ts', '/project/src/old.ts'],
  )
  return {
    title: '3. Search across every mount',
    code: `for await (const { path, line, text } of grep(ns, '/', 'TODO')) …`,
    result: found.map(({ path, line, text }) => `${path}:${line}: ${text}`).join('\n'),
  }
}

async function runErrorScene(ns: MountTable): Promise<Scene> {
  const error = await ns.write('/library/style.md', 'anything goes').catch((cause: unknown) => cause)
  assert.ok(isVfsError(error, 'EROFS'))
  assert.equal(error.mount, '/library')
  return {
    title: '4. Errors say what happened, to which path, on which mount',
    code: `await ns.write('/library/style.md', 'anything goes')`,
    result: `${error.message}   (mount ${error.mount})`,
  }
}

async function runStageScene(ns: MountTable, stage: OverlayFs): Promise<Scene> {
  await stage.write(
    '/project/src/cart.ts',
    'export const total = (prices: number[]) => prices.reduce((a, b) => a + b, 0)\n',
  )
  await stage.write('/project/src/cart.test.ts', "test('adds up', …)\n")
  await stage.remove('/project/src/old.ts')
  const changes = await stage.diff()
  assert.deepEqual(changes, {
    added: ['/project/src/cart.test.ts'],
    modified: ['/project/src/cart.ts'],
    deleted: ['/project/src/old.ts'],
  })
  assert.equal(await ns.exists('/project/src/old.ts'), true)
  return {
    title: '5. Let an agent work on a stage: the real tree stays as it is',
    code: `const stage = new OverlayFs(ns)
…three changes later…
await stage.diff()`,
    result: [
      ...changes.added.map((path) => `added     ${path}`),
      ...changes.modified.map((path) => `modified  ${path}`),
      ...changes.deleted.map((path) => `deleted   ${path}`),
    ].join('\n'),
  }
}

async function runCommitScene(ns: MountTable, stage: OverlayFs): Promise<Scene> {
  await stage.commit()
  assert.equal(await ns.exists('/project/src/old.ts'), false)
  assert.equal((await stage.diff()).added.length, 0)
  return {
    title: '6. Take it over whole, or drop it: commit() or discard()',
    code: `await stage.commit()
await tree(ns, '/project/src')`,
    result: await tree(ns, '/project/src'),
  }
}

async function runForkScene(): Promise<Scene> {
  const big = new MemoryFs()
  for (let file = 0; file < FORKED_FILES; file++) await big.write(`/dir${file % 100}/file${file}`, 'content')
  const start = performance.now()
  const attempts = [big.fork(), big.fork(), big.fork()]
  const microseconds = Math.round((performance.now() - start) * 1000)
  await Promise.all(attempts.map((attempt, number) => attempt.write('/answer', `attempt ${number + 1}`)))
  const answers = await Promise.all(attempts.map((attempt) => readText(attempt, '/answer')))
  assert.deepEqual(answers, ['attempt 1', 'attempt 2', 'attempt 3'])
  assert.equal(await big.exists('/answer'), false)
  const [first] = attempts
  assert.ok(first)
  const changed = await Array.fromAsync(diff(big, first))
  assert.deepEqual(
    changed.map(({ path }) => path),
    ['/answer'],
  )
  return {
    title: '7. Fork: three attempts at once, none sees another',
    code: `const attempts = [fs.fork(), fs.fork(), fs.fork()]   // ${FORKED_FILES.toLocaleString('en')} files each`,
    result: `three forks in ${microseconds} µs; the answers: ${answers.join(', ')}`,
  }
}
