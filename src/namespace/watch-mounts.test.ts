import { describe, expect, it } from 'vitest'
import { contextCaller } from '../access/index.ts'
import { type Home, openHome } from '../backends/vault/index.ts'
import { MemoryFs, type PathChange } from '../vfs/index.ts'
import { type Namespace, openNamespace } from './index.ts'

const ctx = { caller: contextCaller('alice') }

async function namespaceOf(home: Home): Promise<Namespace> {
  await home.createVault('base')
  return openNamespace({ home, context: 'alice', vault: 'base', mounts: { '/mine': new MemoryFs() } })
}

/** Watches during some work, and returns the changes until the last of the paths. */
async function collectEvents(
  namespace: Namespace,
  path: string,
  last: string,
  happen: () => Promise<void>,
): Promise<string[]> {
  const changes: PathChange[] = []
  const stream = namespace.watch(path, ctx)
  // Requests the first change before the work starts, so that it is watching by then.
  const first = stream.next()
  await happen()
  for (let step = await first; !step.done; step = await stream.next()) {
    changes.push(step.value)
    if (step.value.path === last) break
  }
  await stream.return(undefined)
  return changes.map(({ kind, path: at, from }) =>
    from === undefined ? `${kind} ${at}` : `${kind} ${from} -> ${at}`,
  )
}

describe('watching a namespace', () => {
  it('reports zones and the workspace with paths of the namespace', async () => {
    await using home = await openHome()
    await using namespace = await namespaceOf(home)
    const { fs } = namespace
    await fs.write('/workspace/old', 'x', {}, ctx)
    const events = await collectEvents(namespace, '/', '/shared/last', async () => {
      await fs.write('/workspace/src/a', 'x', {}, ctx)
      await fs.rename('/workspace/old', '/workspace/new', {}, ctx)
      await fs.write('/mine/x', 'x', {}, ctx)
      await fs.write('/shared/last', 'x', {}, ctx)
    })
    expect(events.sort()).toEqual([
      'added /shared/last',
      'added /workspace/src/a',
      'renamed /workspace/old -> /workspace/new',
    ])
  })

  it('reports only changes at or below the path, made through any interface', async () => {
    await using home = await openHome()
    await using namespace = await namespaceOf(home)
    const base = await home.vault('base')
    const events = await collectEvents(namespace, '/workspace/src', '/workspace/src/z', async () => {
      await namespace.fs.write('/shared/a', 'x', {}, ctx)
      await base.write('/srcx/a', 'x')
      await base.write('/src/a', 'x')
      await base.write('/src/z', 'x')
    })
    expect(events).toEqual(['added /workspace/src/a', 'added /workspace/src/z'])
  })

  it('does not report changes that a mount covers', async () => {
    await using home = await openHome()
    await using namespace = await namespaceOf(home)
    const zones = await home.vault('zones')
    const events = await collectEvents(namespace, '/', '/shared/last', async () => {
      await zones.write('/workspace/hidden', 'x')
      await zones.write('/mine/hidden', 'x')
      await zones.write('/shared/last', 'x')
    })
    expect(events).toEqual(['added /shared/last'])
  })

  it("ends at once if nothing reports changes, and with the signal's reason on abort", async () => {
    await using home = await openHome()
    await using namespace = await namespaceOf(home)
    expect(await Array.fromAsync(namespace.watch('/mine', ctx))).toEqual([])
    const abort = new AbortController()
    const step = namespace.watch('/', { signal: abort.signal }).next()
    abort.abort(new Error('enough'))
    await expect(step).rejects.toThrow('enough')
  })
})
