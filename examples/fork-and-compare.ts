// Forks one namespace three ways, changes each fork, compares them with the original, and keeps the best.
// Run: npx node examples/fork-and-compare.ts
import assert from 'node:assert/strict'
import { diff, type FileSystem, MemoryFs, MountTable, readText } from 'coppice'

const project = new MountTable({
  '/src': new MemoryFs({ '/greet.ts': 'return "Helo, " + name\n', '/main.ts': 'greet("Ada")\n' }),
  '/notes': new MemoryFs(),
})
const desk = new MountTable({ '/project': project })

// Each attempt is what an agent might do. It gets a namespace of its own and cannot disturb the others.
const attempts: Record<string, (fs: FileSystem) => Promise<void>> = {
  careful: async (fs) => {
    await fs.write('/src/greet.ts', 'return "Hello, " + name\n')
    await fs.write('/notes/fix.md', 'A letter was missing.\n')
  },
  hasty: (fs) => fs.remove('/src/greet.ts'),
  eager: async (fs) => {
    await fs.write('/src/greet.ts', 'return "Hello, " + name\n')
    await fs.write('/src/main.ts', 'greet("World")\n')
    await fs.write('/src/i18n/de.ts', 'return "Hallo, " + name\n')
  },
}

// A fork costs the same however many files there are: what neither side changes is shared.
const forks = Object.entries(attempts).map(([name, attempt]) => ({ name, attempt, fs: project.fork() }))
await Promise.all(forks.map(({ attempt, fs }) => attempt(fs)))

const results = await Promise.all(
  forks.map(async ({ name, fs }) => {
    const changes = await Array.fromAsync(diff(project, fs), ({ kind, path }) => `${kind} ${path}`)
    const works =
      (await fs.exists('/src/greet.ts')) && (await readText(fs, '/src/greet.ts')).includes('Hello')
    return { name, fs, changes, works }
  }),
)
for (const { name, changes, works } of results) {
  console.log(`${name} ${works ? 'works' : 'is broken'}\n  ${changes.join('\n  ')}`)
}
assert.deepEqual(
  results.map(({ changes }) => changes),
  [
    ['added /notes/fix.md', 'modified /src/greet.ts'],
    ['deleted /src/greet.ts'],
    ['modified /src/greet.ts', 'added /src/i18n/de.ts', 'modified /src/main.ts'],
  ],
)

// Of those that work, keep the one with the fewest changes. Mounted in place of the original, all see it.
const [best] = results.filter(({ works }) => works).sort((a, b) => a.changes.length - b.changes.length)
assert.ok(best)
desk.mount('/project', best.fs, { replace: true })
console.log(`kept: ${best.name}`)
assert.equal(best.name, 'careful')
assert.equal(await readText(desk, '/project/src/greet.ts'), 'return "Hello, " + name\n')
assert.equal(await readText(project, '/src/greet.ts'), 'return "Helo, " + name\n')
