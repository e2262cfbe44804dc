import { channel, tracingChannel } from 'node:diagnostics_channel'
import { afterEach, describe, expect, it } from 'vitest'
import { VfsError } from './error.ts'
import { type CacheEvent, type VfsEvent, type VfsOperation, vfsOperations } from './events.ts'
import type { CallContext, Capability, Content, FileSystem, Stat, WriteOptions } from './file-system.ts'
import { readText } from './helpers/file-content.ts'
import { MemoryFs } from './memory/memory-fs.ts'
import { MountTable } from './mount/mount-table.ts'
import { OverlayFs } from './overlay/overlay-fs.ts'
import type { Appendable, ContentAddressed, Linkable, Renamable, Searchable } from './protocols.ts'
import { ReadOnlyFs } from './read-only-fs.ts'

type Phase = 'start' | 'end' | 'error'
type Heard = VfsEvent & { readonly phase: Phase }

const undo: (() => void)[] = []
afterEach(() => {
  for (const stop of undo.splice(0)) stop()
})

/** Listens to operations, all of them when none is named. Each event is kept as it was when it was heard. */
function listen(ops: readonly VfsOperation[] = vfsOperations): Heard[] {
  const heard: Heard[] = []
  for (const op of ops) {
    const tracing = tracingChannel<VfsEvent, VfsEvent>(`coppice:vfs:${op}`)
    for (const phase of ['start', 'end', 'error'] as const) {
      const note = (event: unknown) => {
        if (isEvent(event)) heard.push({ ...event, phase })
      }
      tracing[phase].subscribe(note)
      undo.push(() => tracing[phase].unsubscribe(note))
    }
  }
  return heard
}

function isEvent(event: unknown): event is VfsEvent {
  return typeof event === 'object' && event !== null && 'op' in event
}

function isCacheEvent(event: unknown): event is CacheEvent {
  return typeof event === 'object' && event !== null && 'outcome' in event
}

function lines(heard: readonly Heard[]): string[] {
  return heard.map(({ phase, op, path }) => `${phase} ${op} ${path}`)
}

function ends(heard: readonly Heard[]): Heard[] {
  return heard.filter(({ phase }) => phase === 'end')
}

const seed = { '/dir/file': 'hello\n', '/dir/other': 'world\n' }

/** A memory that has only the required core, so that layers above have to compose the rest. */
class PlainMemory extends MemoryFs {
  override readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write', 'mkdir', 'link'])
}

const reads: Readonly<Record<string, (fs: FileSystem, at: string) => unknown>> = {
  exists: (fs, at) => fs.exists(`${at}/dir/file`),
  stat: (fs, at) => fs.stat(`${at}/dir/file`),
  readdir: (fs, at) => Array.fromAsync(fs.readdir(`${at}/dir`)),
  read: (fs, at) => Array.fromAsync(fs.read(`${at}/dir/file`)),
  walk: (fs, at) => Array.fromAsync(fs.walk(`${at}/dir`)),
  materialize: (fs, at) => fs.materialize({ prefix: `${at}/dir` }),
}

const writes: Readonly<Record<string, (fs: FileSystem, at: string) => unknown>> = {
  write: (fs, at) => fs.write(`${at}/dir/new`, 'x'),
  mkdir: (fs, at) => fs.mkdir(`${at}/dir/new`),
  remove: (fs, at) => fs.remove(`${at}/dir`, { recursive: true }),
}

const layered: Readonly<Record<string, readonly [string, () => FileSystem, typeof reads]>> = {
  memory: ['', () => new MemoryFs(seed), { ...reads, ...writes }],
  'a table over a table over memory': [
    '/out/in',
    () => new MountTable({ '/out': new MountTable({ '/in': new MemoryFs(seed) }) }),
    { ...reads, ...writes },
  ],
  'an overlay': ['', () => new OverlayFs(new MemoryFs(seed)), { ...reads, ...writes }],
  'a table over an overlay over a table': [
    '/over',
    () => new MountTable({ '/over': new OverlayFs(new MountTable({ '/': new MemoryFs(seed) })) }),
    { ...reads, ...writes },
  ],
  'a read-only layer in a table': [
    '/ro',
    () => new MountTable({ '/': new MemoryFs(), '/ro': new ReadOnlyFs(new MemoryFs(seed)) }),
    reads,
  ],
}

describe.each(Object.entries(layered))('one operation on %s', (_name, [at, create, calls]) => {
  it.each(Object.keys(calls))('is one event for %s, with the path of the user', async (op) => {
    const fs = create()
    const heard = listen()
    await calls[op]?.(fs, at)
    const phases = heard.map((event) => `${event.phase} ${event.op}`)
    expect(phases).toEqual([`start ${op}`, `end ${op}`])
    for (const { path } of heard) expect(path.startsWith(`${at}/dir`), path).toBe(true)
  })
})

describe('secondary protocols', () => {
  type Everything = FileSystem & Renamable & Linkable & Appendable & Searchable & ContentAddressed
  const calls: Readonly<Record<string, (fs: Everything) => unknown>> = {
    append: (fs) => fs.append('/dir/file', 'more'),
    rename: (fs) => fs.rename('/dir/file', '/dir/moved'),
    symlink: (fs) => fs.symlink('/dir/file', '/dir/link'),
    readlink: async (fs) => fs.readlink('/dir/old-link'),
    search: (fs) => Array.fromAsync(fs.search('/dir', { pattern: 'hello' })),
    hash: (fs) => fs.hash('/dir/file'),
  }
  const natively = () => new MountTable({ '/': new MemoryFs(seed) })
  const composed = () => new MountTable({ '/': new PlainMemory(seed) })

  it.each(Object.keys(calls))('are one event for %s, native or composed', async (op) => {
    for (const fs of [natively(), composed()]) {
      await fs.symlink('file', '/dir/old-link')
      const heard = listen()
      await calls[op]?.(fs)
      expect(heard.map((event) => `${event.phase} ${event.op}`)).toEqual([`start ${op}`, `end ${op}`])
    }
  })

  it('emit one event when a composed rename copies links', async () => {
    const fs = composed()
    await fs.symlink('file', '/dir/link')
    const heard = listen()
    await fs.rename('/dir', '/moved')
    expect(lines(heard)).toEqual(['start rename /dir', 'end rename /dir'])
  })

  it('emit one event when a composed rename with a signal fails and cleans up', async () => {
    class Refusing extends PlainMemory {
      protected override doWrite(
        path: string,
        content: Content,
        options: WriteOptions,
      ): void | Promise<void> {
        if (path === '/moved/other') throw new VfsError('EACCES', path, { op: 'write' })
        return super.doWrite(path, content, options)
      }
    }
    const fs = new MountTable({ '/': new Refusing(seed) })
    const heard = listen()
    const { signal } = new AbortController()
    await expect(fs.rename('/dir', '/moved', {}, { signal })).rejects.toMatchObject({ code: 'EACCES' })
    expect(lines(heard)).toEqual(['start rename /dir', 'error rename /dir', 'end rename /dir'])
  })
})

describe('the synchronous face', () => {
  it('emits one event per operation too, whatever the layers', () => {
    const fs = new MountTable({ '/m': new ReadOnlyFs(new MemoryFs(seed)), '/': new MemoryFs(seed) })
    const heard = listen()
    fs.sync.readdir('/dir', { trace: 't' })
    fs.sync.open('/dir/file').close()
    fs.sync.link('/dir/file', '/dir/twin')
    fs.sync.setattr('/dir/twin', { mode: 0o600 })
    expect(() => fs.sync.rmdir('/m/dir')).toThrow(expect.objectContaining({ code: 'EROFS' }))
    expect(lines(heard)).toEqual([
      'start readdir /dir',
      'end readdir /dir',
      'start open /dir/file',
      'end open /dir/file',
      'start link /dir/file',
      'end link /dir/file',
      'start setattr /dir/twin',
      'end setattr /dir/twin',
      'start rmdir /m/dir',
      'error rmdir /m/dir',
      'end rmdir /m/dir',
    ])
    expect(heard[1]).toMatchObject({ entries: 2, trace: 't', duration: expect.any(Number) })
  })
})

describe('a subscriber to one operation', () => {
  it('does not receive the inner steps of another operation', async () => {
    const overlay = new OverlayFs(new MemoryFs(seed))
    const table = new MountTable({ '/': new PlainMemory(seed), '/mnt': new PlainMemory(seed) })
    const heard = listen(['stat', 'exists', 'readdir'])
    await readText(overlay, '/dir/file')
    await overlay.write('/dir/file', 'x')
    await Array.fromAsync(table.walk('/'))
    await Array.fromAsync(table.search('/', { pattern: 'hello' }))
    expect(lines(heard)).toEqual([])
  })

  it('does not receive a read when a mount computes a hash or an append', async () => {
    const table = new MountTable({ '/mnt': new PlainMemory(seed) })
    const heard = listen(['read', 'write'])
    await table.hash('/mnt/dir/file')
    await table.append('/mnt/dir/file', 'more')
    expect(lines(heard)).toEqual([])
  })

  it('does not receive other operations', async () => {
    const fs = new MemoryFs(seed)
    const heard = listen(['stat'])
    await fs.exists('/dir/file')
    await fs.stat('/dir/file')
    expect(lines(heard)).toEqual(['start stat /dir/file', 'end stat /dir/file'])
  })

  it('may subscribe to one phase only', async () => {
    const failures: unknown[] = []
    const note = (event: unknown) => void failures.push(event)
    channel('tracing:coppice:vfs:stat:error').subscribe(note)
    undo.push(() => channel('tracing:coppice:vfs:stat:error').unsubscribe(note))
    const fs = new MemoryFs(seed)
    await fs.stat('/dir/file')
    await fs.stat('/missing').catch(() => {})
    expect(failures).toEqual([expect.objectContaining({ op: 'stat', path: '/missing' })])
  })
})

describe('an event contains', () => {
  it('at the start: operation, canonical path, caller and trace; at the end also the duration', async () => {
    const heard = listen()
    const caller = { kind: 'process', pid: 7, context: 'c' } as const
    await new MountTable({ '/m': new MemoryFs(seed) }).stat('/m//dir/../dir/file', { caller, trace: 't1' })
    const [start, end] = heard
    expect(start).toMatchObject({ phase: 'start', op: 'stat', path: '/m/dir/file', caller, trace: 't1' })
    expect(start).not.toHaveProperty('duration')
    expect(end).toMatchObject({ phase: 'end', op: 'stat', path: '/m/dir/file', caller, trace: 't1' })
    expect(end?.duration).toBeGreaterThanOrEqual(0)
    expect(end).not.toHaveProperty('error')
  })

  it('the bytes of a write, whatever form the content has', async () => {
    const fs = new MemoryFs()
    const heard = listen(['write', 'append'])
    const stream = async function* () {
      yield 'é'
      yield Uint8Array.of(1, 2, 3)
    }
    await fs.write('/f', 'é')
    await fs.write('/f', new Uint8Array(10))
    await fs.write('/f', stream())
    await fs.append('/f', 'abc')
    expect(ends(heard).map(({ bytes }) => bytes)).toEqual([2, 10, 5, 3])
  })

  it('the bytes that were read, not those of the file', async () => {
    const fs = new MemoryFs({ '/f': 'x'.repeat(100) })
    const heard = listen(['read'])
    await Array.fromAsync(fs.read('/f'))
    await Array.fromAsync(fs.read('/f', { byteRange: [90, 50] }))
    for await (const _ of fs.read('/f', { chunkSize: 30 })) break
    expect(ends(heard).map(({ bytes }) => bytes)).toEqual([100, 10, 30])
  })

  it('the entries that were listed, walked or found', async () => {
    const fs = new MemoryFs(seed)
    const heard = listen()
    await Array.fromAsync(fs.readdir('/dir'))
    await Array.fromAsync(fs.walk('/', { includeDirs: true }))
    await Array.fromAsync(fs.search('/', { pattern: 'world' }))
    expect(ends(heard).map(({ op, entries }) => [op, entries])).toEqual([
      ['readdir', 2],
      ['walk', 3],
      ['search', 1],
    ])
  })

  it('a failure: start, then error and end with the error the caller gets', async () => {
    const fs = new MountTable({ '/m': new MemoryFs(seed) })
    const heard = listen()
    const failure = await fs.stat('/m/missing').catch((error: unknown) => error)
    expect(lines(heard)).toEqual(['start stat /m/missing', 'error stat /m/missing', 'end stat /m/missing'])
    expect(heard[1]?.error).toBe(failure)
    expect(heard[2]?.error).toBe(failure)
    expect(heard[1]?.duration).toBeGreaterThanOrEqual(0)
  })

  it('a mutation that a read-only file system rejects', async () => {
    const fs = new ReadOnlyFs(new MemoryFs(seed))
    const heard = listen()
    await fs.write('/dir/file', 'x').catch(() => {})
    await fs.remove('/dir/file').catch(() => {})
    expect(lines(heard)).toEqual([
      'start write /dir/file',
      'error write /dir/file',
      'end write /dir/file',
      'start remove /dir/file',
      'error remove /dir/file',
      'end remove /dir/file',
    ])
  })
})

describe('the event of a stream', () => {
  it('spans the enumeration', async () => {
    const heard = listen(['walk'])
    const walk = new MemoryFs(seed).walk('/')[Symbol.asyncIterator]()
    await walk.next()
    expect(lines(heard)).toEqual(['start walk /'])
    await walk.next()
    expect(lines(heard)).toEqual(['start walk /'])
    await walk.next()
    expect(lines(heard)).toEqual(['start walk /', 'end walk /'])
    expect(heard[1]?.entries).toBe(2)
  })

  it('ends when the loop is left early, with what was seen until then', async () => {
    const heard = listen()
    for (const fs of [new MemoryFs(seed), new OverlayFs(new MemoryFs(seed))]) {
      for await (const _ of fs.walk('/')) break
      for await (const _ of fs.readdir('/dir')) break
      for await (const _ of fs.read('/dir/file', { chunkSize: 2 })) break
      const seen = ends(heard.splice(0)).map(({ op, entries, bytes }) => [op, entries ?? bytes])
      expect(seen).toEqual([
        ['walk', 1],
        ['readdir', 1],
        ['read', 2],
      ])
    }
  })

  it('ends with the error of a stream that breaks in the middle', async () => {
    class Breaking extends MemoryFs {
      protected override async *doRead(path: string): AsyncGenerator<Uint8Array> {
        yield Uint8Array.of(1, 2)
        throw new VfsError('EIO', path, { op: 'read' })
      }
    }
    const heard = listen(['read'])
    await Array.fromAsync(new Breaking(seed).read('/dir/file')).catch(() => {})
    expect(heard.map(({ phase }) => phase)).toEqual(['start', 'error', 'end'])
    expect(heard[2]).toMatchObject({ bytes: 2, error: { code: 'EIO' } })
  })

  it('ends when its signal is aborted', async () => {
    const heard = listen(['walk'])
    const controller = new AbortController()
    const walk = async () => {
      for await (const _ of new MemoryFs(seed).walk('/', {}, { signal: controller.signal }))
        controller.abort()
    }
    await expect(walk).rejects.toThrow()
    expect(heard.at(-1)).toMatchObject({ phase: 'end', entries: 1 })
  })

  it('does not change the stream, which shows the moment it was opened, traced or not', async () => {
    const shown = async () => {
      const fs = new MemoryFs(seed)
      const [read, walk, list] = [fs.read('/dir/file'), fs.walk('/'), fs.readdir('/dir')]
      await fs.write('/dir/file', 'new\n')
      await fs.remove('/dir/other')
      const content = Buffer.concat(await Array.fromAsync(read)).toString()
      return [content, (await Array.fromAsync(walk)).length, (await Array.fromAsync(list)).length]
    }
    const unheard = await shown()
    listen()
    expect(await shown()).toEqual(unheard)
  })
})

describe('caches', () => {
  function listenToCaches(): CacheEvent[] {
    const heard: CacheEvent[] = []
    const note = (event: unknown) => {
      if (isCacheEvent(event)) heard.push(event)
    }
    channel('coppice:vfs:cache').subscribe(note)
    undo.push(() => channel('coppice:vfs:cache').unsubscribe(note))
    return heard
  }

  it('report a miss, then hits, and a miss after a change', async () => {
    const heard = listenToCaches()
    const fs = new MemoryFs(seed)
    await fs.hash('/dir/file')
    await fs.hash('/dir/file')
    await fs.write('/dir/file', 'changed')
    await fs.hash('/dir/file')
    await fs.append('/dir/file', 'again')
    await fs.hash('/dir/file')
    expect(heard.map(({ outcome }) => outcome)).toEqual(['miss', 'hit', 'miss', 'miss'])
    expect(new Set(heard.map(({ path }) => path))).toEqual(new Set(['/dir/file']))
  })

  it('are shared with a fork until one side changes', async () => {
    const fs = new MemoryFs(seed)
    await fs.hash('/dir/file')
    const heard = listenToCaches()
    const fork = fs.fork()
    await fork.hash('/dir/file')
    await fork.write('/dir/file', 'changed')
    await fork.hash('/dir/file')
    await fs.hash('/dir/file')
    expect(heard.map(({ outcome }) => outcome)).toEqual(['hit', 'miss', 'hit'])
  })
})

describe('without subscribers', () => {
  it('nothing is published, also after the last one unsubscribed', async () => {
    const fs = new MemoryFs(seed)
    const heard = listen()
    await fs.stat('/dir/file')
    expect(heard.length).toBe(2)
    for (const stop of undo.splice(0)) stop()
    await fs.stat('/dir/file')
    await Array.fromAsync(fs.walk('/'))
    expect(heard.length).toBe(2)
    for (const op of vfsOperations) {
      expect(tracingChannel<VfsEvent, VfsEvent>(`coppice:vfs:${op}`).end.hasSubscribers, op).toBe(false)
    }
  })

  it('a call passes on the fields of its context', async () => {
    const seen: unknown[] = []
    class Noting extends MemoryFs {
      protected override doMaterialize(_options: object, ctx?: object): void {
        seen.push(ctx)
      }
    }
    const ctx = { trace: 't' }
    await new MountTable({ '/': new Noting() }).materialize({}, ctx)
    expect(seen[0]).toEqual(ctx)
  })

  it('a call copies its context, so that the caller may reuse and change it', async () => {
    const seen: unknown[] = []
    class Noting extends MemoryFs {
      protected override doStat(path: string, ctx?: CallContext): Stat {
        seen.push(ctx?.trace)
        return super.doStat(path)
      }
    }
    const table = new MountTable({ '/': new Noting(seed) })
    const ctx = { trace: 'first' }
    await table.stat('/dir/file', ctx)
    ctx.trace = 'second'
    await table.stat('/dir/file', ctx)
    expect(seen).toEqual(['first', 'second'])
  })
})
