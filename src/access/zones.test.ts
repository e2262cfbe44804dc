import { describe, expect, it } from 'vitest'
import type { Caller } from '../vfs/index.ts'
import { contextCaller, listWritableZones, type Policy, SYSTEM, type Zone, zonePolicy } from './index.ts'

const alice = contextCaller('alice')
const bob = contextCaller('bob')
const process: Caller = { kind: 'process', pid: 7, context: 'alice' }
const own: readonly Zone[] = [
  { root: '/workspace', writers: ['alice'] },
  { root: '/shared/team/bob', writers: ['bob'] },
]

function mayWrite(policy: Policy, caller: Caller | undefined, path: string, op = 'write'): boolean {
  return policy.judge({ caller, access: 'write', op, path }) === null
}

function mayRemove(policy: Policy, caller: Caller | undefined, path: string): boolean {
  return policy.judge({ caller, access: 'remove', op: 'remove', path }) === null
}

describe('the zone policy', () => {
  const zones = zonePolicy()

  it('lets a context write the shared and its own zone', () => {
    for (const path of ['/shared/f', '/shared/d/deep/f', '/home/alice/f', '/home/alice/d/f']) {
      expect(mayWrite(zones, alice, path), path).toBe(true)
      expect(mayRemove(zones, alice, path), path).toBe(true)
    }
  })

  it('lets it write nothing else', () => {
    for (const path of ['/home/bob/f', '/sys/f', '/sys/tool_cache/alice/x', '/f', '/etc/passwd', '/home/f']) {
      expect(mayWrite(zones, alice, path), path).toBe(false)
      expect(mayRemove(zones, alice, path), path).toBe(false)
    }
  })

  it('compares whole names, not prefixes', () => {
    for (const path of [
      '/sharedx/f',
      '/share/f',
      '/homer/f',
      '/home/alice2/f',
      '/home/alic/f',
      '/Shared/f',
    ]) {
      expect(mayWrite(zones, alice, path), path).toBe(false)
    }
  })

  it('lets only the system replace, move or remove a zone, but its writers create it', () => {
    for (const path of ['/', '/shared', '/home', '/sys', '/home/alice', '/home/bob']) {
      expect(mayRemove(zones, alice, path), path).toBe(false)
      for (const op of ['write', 'rename', 'symlink', 'open']) {
        expect(mayWrite(zones, alice, path, op), `${op} ${path}`).toBe(false)
      }
    }
    expect(mayWrite(zones, alice, '/shared', 'mkdir')).toBe(true)
    expect(mayWrite(zones, alice, '/home/alice', 'mkdir')).toBe(true)
    for (const path of ['/', '/home', '/sys', '/home/bob']) {
      expect(mayWrite(zones, alice, path, 'mkdir'), path).toBe(false)
    }
  })

  it('lets a process do what its context may', () => {
    expect(mayWrite(zones, process, '/home/alice/f')).toBe(true)
    expect(mayWrite(zones, process, '/home/bob/f')).toBe(false)
  })

  it('grants nothing to a caller without a valid context name', () => {
    for (const caller of [undefined, ...['System', '', '..', 'a/b', '-x'].map(unchecked)]) {
      for (const path of ['/shared/f', '/home/System/f', '/home/a/b/f', '/home/-x/f']) {
        expect(mayWrite(zones, caller, path), `${JSON.stringify(caller)} ${path}`).toBe(false)
      }
    }
  })

  it('allows every read', () => {
    expect(zones.judge({ caller: undefined, access: 'read', op: 'read', path: '/home/bob/f' })).toBeNull()
  })

  it('names the denied caller and the zones it may write', () => {
    const explain = (caller: Caller | undefined, policy = zones) =>
      policy.judge({ caller, access: 'write', op: 'write', path: '/sys/f' })
    expect(explain(alice)).toBe("'alice' may not change this; it may write below /shared and /home/alice")
    expect(explain(process)).toMatch(/^process 7 of 'alice' /)
    expect(explain(alice, zonePolicy(own))).toMatch(/below \/shared, \/workspace and \/home\/alice$/)
    expect(explain(undefined)).toBe('a caller without a name may not change this; it may only read')
  })
})

describe('zones of a namespace', () => {
  const zones = zonePolicy(own)

  it('can be changed by their writers', () => {
    expect(mayWrite(zones, alice, '/workspace/f')).toBe(true)
    expect(mayWrite(zones, bob, '/workspace/f')).toBe(false)
    expect(mayWrite(zones, alice, '/workspacex/f')).toBe(false)
  })

  it('are excluded from the zone around them', () => {
    expect(mayWrite(zones, bob, '/shared/team/bob/f')).toBe(true)
    expect(mayWrite(zones, alice, '/shared/team/bob/f')).toBe(false)
    expect(mayWrite(zones, alice, '/shared/team/other')).toBe(true)
  })

  it('protect the directories they lie in from being moved, removed or replaced', () => {
    expect(mayRemove(zones, alice, '/shared/team')).toBe(false)
    expect(mayWrite(zones, alice, '/shared/team', 'rename')).toBe(false)
    expect(mayWrite(zones, alice, '/shared/team', 'mkdir')).toBe(true)
  })

  it('may replace a standard one', () => {
    const closed = zonePolicy([{ root: '/shared/', writers: [] }])
    expect(mayWrite(closed, alice, '/shared/f')).toBe(false)
    expect(mayWrite(closed, alice, '/home/alice/f')).toBe(true)
  })

  it('can be listed for a caller', () => {
    expect(listWritableZones(alice, own)).toEqual(['/shared', '/workspace', '/home/alice'])
    expect(listWritableZones(bob, own)).toEqual(['/shared', '/shared/team/bob', '/home/bob'])
    expect(listWritableZones(undefined, own)).toEqual([])
    expect(listWritableZones(SYSTEM)).toEqual(['/'])
  })
})

/** A caller nobody could make with `contextCaller`. */
function unchecked(context: string): Caller {
  return { kind: 'context', context }
}
