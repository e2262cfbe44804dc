import { describe, expect, it } from 'vitest'
import { openHome, type Vault } from '../backends/vault/index.ts'
import { fileSystemSuite, type Subject } from '../conformance/index.ts'
import {
  type CallContext,
  type Caller,
  type FileSystem,
  MemoryFs,
  MountTable,
  readText,
} from '../vfs/index.ts'
import { GuardedFs } from './guard.ts'
import { contextCaller, guard, type Policy, SYSTEM, zonePolicy } from './index.ts'

/** Where each operation takes its context. */
const CONTEXT_AT: Readonly<Record<string, number>> = {
  exists: 1,
  stat: 1,
  readdir: 1,
  read: 2,
  walk: 2,
  materialize: 1,
  write: 3,
  mkdir: 2,
  remove: 2,
  rename: 3,
  symlink: 2,
  readlink: 1,
  realpath: 2,
  link: 2,
  identity: 1,
  setattr: 2,
  append: 2,
  open: 2,
  search: 2,
  hash: 1,
  diffFrom: 1,
}

/** What is behind each of them, for one that is compared with another. */
const originals = new WeakMap<object, FileSystem>()

/** The same file system, with every call made by one caller. The suite itself names none. */
function as(caller: Caller, fs: FileSystem): FileSystem {
  const proxy = new Proxy(fs, {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target)
      if (typeof member !== 'function') return member
      const at = CONTEXT_AT[String(property)]
      return (...given: unknown[]) => {
        if (at === undefined) return forked(caller, Reflect.apply(member, target, given))
        const ctx = given[at]
        const args = Array.from({ length: at }, (_, index) => original(given[index]))
        return Reflect.apply(member, target, [...args, { ...(isContext(ctx) && ctx), caller }])
      }
    },
  })
  originals.set(proxy, fs)
  return proxy
}

function original(argument: unknown): unknown {
  return typeof argument === 'object' && argument !== null ? (originals.get(argument) ?? argument) : argument
}

function forked(caller: Caller, made: unknown): unknown {
  return made instanceof GuardedFs ? as(caller, made) : made
}

function isContext(value: unknown): value is CallContext {
  return typeof value === 'object' && value !== null
}

async function newVault(): Promise<Vault> {
  return (await openHome()).createVault('base')
}

const alice = contextCaller('alice')
const anyChange: Policy = { name: 'any change', judges: 'changes', judge: () => null }
const anything: Policy = { name: 'anything', judges: 'everything', judge: () => null }

const suite = (subject: Subject) => fileSystemSuite({ describe, it }, { runs: 10, ...subject })

suite({
  name: 'a guarded MemoryFs, for the system',
  create: (seed) => as(SYSTEM, guard(new MemoryFs(seed), [zonePolicy(), anything])),
})
suite({
  name: 'a guarded vault, for the system',
  create: async () => as(SYSTEM, guard(await newVault(), [zonePolicy()])),
})
suite({
  name: 'a guarded MountTable, for the system',
  create: (seed) => as(SYSTEM, guard(new MountTable({ '/': new MemoryFs(seed) }), [zonePolicy()])),
})
suite({
  name: 'a guarded MemoryFs, for a context whose changes are judged',
  create: (seed) => as(alice, guard(new MemoryFs(seed), [anyChange])),
})
suite({
  name: 'a guarded vault, for a context whose reads are judged too',
  create: async () => as(alice, guard(await newVault(), [anything])),
})
suite({
  name: 'a guarded table in a table, for a context whose reads are judged too',
  create: (seed) => {
    const table = new MountTable({ '/': new MountTable({ '/': new MemoryFs(seed) }) })
    return as(alice, guard(table, [anything]))
  },
})

describe('a stream below a link', () => {
  const ctx: CallContext = { caller: alice }

  it('fails with the requested path', async () => {
    const below = new MemoryFs({ '/real/a': 'x' })
    await below.symlink('/real', '/link')
    const fs = guard(below, [anything])
    await expect(readText(fs, '/link/missing', {}, ctx)).rejects.toMatchObject({ path: '/link/missing' })
    await expect(Array.fromAsync(fs.readdir('/link/missing', ctx))).rejects.toMatchObject({
      path: '/link/missing',
    })
  })

  it('names both paths of a rename as they were requested', async () => {
    const vault = await newVault()
    await vault.write('/real/a', 'x')
    await vault.symlink('/real', '/link')
    const watch = guard(vault, [anything]).watch('/link', ctx)[Symbol.asyncIterator]()
    let hasBegun = false
    const first = watch.next().then(() => {
      hasBegun = true
    })
    for (let size = 1; !hasBegun; size++) await vault.write('/real/other', 'x'.repeat(size))
    await first
    await vault.rename('/real/a', '/real/b')
    let change = await watch.next()
    while (change.done !== true && change.value.kind !== 'renamed') change = await watch.next()
    expect(change.value).toMatchObject({ path: '/link/b', from: '/link/a' })
    await watch.return?.()
  })
})
