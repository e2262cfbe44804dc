// Gives two agents one namespace in which each writes what is its own, and both what is shared.
// Run: npx node examples/zones.ts
import assert from 'node:assert/strict'
import { isVfsError, MemoryFs, MountTable, readText } from 'coppice'
import {
  asSystem,
  contextCaller,
  guard,
  listWritableZones,
  protectedNamesPolicy,
  zonePolicy,
} from 'coppice/access'

const namespace = new MountTable({ '/': new MemoryFs(), '/workspace': new MemoryFs() })
const zones = [{ root: '/workspace', writers: ['alice'] }]
const fs = guard(namespace, [zonePolicy(zones), protectedNamesPolicy(['.env'])], {
  quotas: [{ root: '/home', each: true, bytes: 1_000_000, files: 1000 }],
})

// A call says who makes it.
const alice = { caller: contextCaller('alice') }
const bob = { caller: contextCaller('bob') }
await fs.write('/home/alice/notes.md', 'for myself\n', {}, alice)
await fs.write('/shared/tasks.md', '- [ ] review\n', {}, alice)
await fs.append('/shared/tasks.md', '- [ ] deploy\n', bob)
await fs.write('/sys/motd', 'welcome\n', {}, asSystem)
assert.equal(await readText(fs, '/home/alice/notes.md', {}, bob), 'for myself\n')

// A denial says what to do instead.
const refused = await fs.write('/home/alice/notes.md', 'mine now\n', {}, bob).catch((error: unknown) => error)
assert.ok(isVfsError(refused, 'EACCES'))
console.log(refused.message)
assert.match(refused.message, /'bob' may not change this; it may write below \/shared and \/home\/bob/)
assert.deepEqual(listWritableZones(alice.caller, zones), ['/shared', '/workspace', '/home/alice'])

// A link is judged where it leads, so it is no way into a zone.
await fs.symlink('/home/alice', '/shared/door', bob)
await assert.rejects(fs.write('/shared/door/notes.md', 'mine now\n', {}, bob), { code: 'EACCES' })
assert.equal(await readText(fs, '/shared/door/notes.md', {}, bob), 'for myself\n')

// A protected name is nobody's, also where there is no such file yet, and in whatever case.
await assert.rejects(fs.write('/workspace/.ENV', 'TOKEN=1\n', {}, alice), { code: 'EACCES' })

// A quota refuses what does not fit, and stores no part of it.
await assert.rejects(fs.write('/home/bob/big', 'x'.repeat(1_000_001), {}, bob), { code: 'ENOSPC' })
assert.equal(await fs.exists('/home/bob/big'), false)
