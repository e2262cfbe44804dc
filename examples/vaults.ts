// A home with vaults: fork, compare, go back, merge, see who wrote what, let several try and keep one.
// Run: npx node examples/vaults.ts
import assert from 'node:assert/strict'
import { openHome, readText } from 'coppice'
import { MergeError } from 'coppice/store'

const home = await openHome()

const base = await home.createVault('base')
await base.write('/app/config.json', '{ "port": 8080 }\n')
await base.write(
  '/app/notes.md',
  '# Notes\n\nWrite more.\n',
  {},
  { caller: { kind: 'context', context: 'anna' } },
)

const task = await home.fork('base', 'task-1')
await task.write('/app/config.json', '{ "port": 9090 }\n')
await task.rename('/app/notes.md', '/app/README.md')
assert.equal(await readText(base, '/app/config.json'), '{ "port": 8080 }\n')

const changes = await Array.fromAsync(task.diff(), ({ kind, path, from }) =>
  [kind, from ?? '', path].join(' '),
)
assert.deepEqual(changes, ['renamed /app/notes.md /app/README.md', 'modified  /app/config.json'])

await task.checkpoint('before', { description: 'the port is right' })
await task.remove('/app', { recursive: true })
assert.equal(await readText(task.at('before'), '/app/config.json'), '{ "port": 9090 }\n')
assert.equal(await readText(task, '/.coppice/at/before/app/config.json'), '{ "port": 9090 }\n')
await task.restore('before')
assert.ok(await task.exists('/app/README.md'))

const taken = await home.merge('task-1', 'base')
assert.deepEqual(
  taken.map(({ path }) => path),
  ['/app/README.md', '/app/config.json'],
)
assert.equal(await readText(base, '/app/config.json'), '{ "port": 9090 }\n')

await task.write('/app/config.json', '{ "port": 1 }\n')
await base.write('/app/config.json', '{ "port": 2 }\n')
const refused = await home.merge('task-1', 'base').catch((error: unknown) => error)
assert.ok(refused instanceof MergeError)
console.log(refused.message)
assert.equal(refused.conflicts[0]?.path, '/app/config.json')

const resolutions = new Map([['/app/config.json', { bytes: Buffer.from('{ "port": 3 }\n') }]])
assert.equal((await home.merge('task-1', 'base', { resolutions, isTrial: true })).length, 1)
await home.merge('task-1', 'base', { onConflict: 'ours' })
assert.equal(await readText(base, '/app/config.json'), '{ "port": 2 }\n')

const [newest, previous] = await Array.fromAsync(base.versions('/app/config.json'))
assert.ok(newest && previous)
const old = Buffer.concat(await Array.fromAsync(base.readVersion('/app/config.json', previous.version)))
assert.equal(old.toString(), '{ "port": 9090 }\n')
await base.revert('/app/config.json', previous.version)

await base.append('/app/README.md', 'And more.\n', {
  caller: { kind: 'context', context: 'ben' },
  trace: 'call-7',
})
for (const { line, text, caller } of await base.blame('/app/README.md')) console.log(line, caller ?? '', text)

await base.tags.add('/app/README.md', ['docs', 'draft'])
await base.meta.set('/app/README.md', 'reviewer', 'anna')
assert.deepEqual(await base.tags.find('draft'), ['/app/README.md'])
assert.deepEqual(await base.meta.all('/app/README.md'), { reviewer: 'anna' })

await base.quota.set({ bytes: 1_000_000, fileSize: 1000 })
await assert.rejects(base.write('/large', 'x'.repeat(1001)), { code: 'ENOSPC' })
const { files, bytes } = await base.quota.usage()
assert.deepEqual([files, bytes], [2, 48])

const seen = await Array.fromAsync(base.changes())
const token = seen.at(-1)?.token ?? ''
await base.write('/app/later.txt', 'x')
const since = await Array.fromAsync(base.changes({ since: token }), ({ op, path }) => `${op} ${path}`)
assert.deepEqual(since, ['write /app/later.txt'])

const race = await home.race('base', 3, async (vault, index) => {
  await vault.write('/answer.txt', `answer ${index}\n`)
  if (index === 1) throw new Error('gave up')
  return index
})
assert.deepEqual(
  race.lanes.map(({ outcome, changes }) => [outcome.status, changes.length]),
  [
    ['fulfilled', 1],
    ['rejected', 1],
    ['fulfilled', 1],
  ],
)
await race.keep(2)
assert.equal(await readText(base, '/answer.txt'), 'answer 2\n')

await home.deleteVault('task-1')
const { pages, journalRows } = await home.gc({ keepHistory: new Date(Date.now() + 1) })
assert.ok(pages > 0 && journalRows > 0)
assert.deepEqual((await home.fsck()).damaged, [])
await home.close()
console.log('done')
