import { describe, expect, it } from 'vitest'
import { asSystem, contextCaller } from '../access/index.ts'
import { type Home, openHome, type Vault } from '../backends/vault/index.ts'
import { readText } from '../vfs/index.ts'
import { NamespaceWorkspace } from './namespace-workspace.ts'

const alice = { caller: contextCaller('alice') }

async function workspaceOf(home: Home): Promise<{ vault: Vault; workspace: NamespaceWorkspace }> {
  const vault = await home.createVault('base')
  return { vault, workspace: new NamespaceWorkspace(home, vault, '/workspace') }
}

describe('a vault as a workspace', () => {
  it('logs changes newest first, up to the limit, each with its caller', async () => {
    await using home = await openHome()
    const { vault, workspace } = await workspaceOf(home)
    await vault.write('/a', 'x', {}, asSystem)
    await vault.write('/b', 'x', {}, alice)
    await vault.write('/c', 'x')
    await vault.write('/d', 'x', {}, { caller: { kind: 'process', pid: 7, context: 'bob' } })
    const listRecent = async (limit: number) =>
      (await Array.fromAsync(workspace.log(limit))).map(({ path, caller }) => `${path} ${caller}`)
    expect(await listRecent(2)).toEqual(['/workspace/d bob', '/workspace/c undefined'])
    expect(await listRecent(9)).toEqual([
      '/workspace/d bob',
      '/workspace/c undefined',
      '/workspace/b alice',
      '/workspace/a system',
    ])
    expect(await listRecent(0)).toEqual([])
  })

  it('shows changes since the beginning, since a checkpoint, and since the fork point', async () => {
    await using home = await openHome()
    const { vault, workspace } = await workspaceOf(home)
    await vault.write('/a', 'one\n')
    await workspace.checkpoint('first')
    await vault.rename('/a', '/b')
    const changes = async (since?: string, of = workspace) =>
      (await Array.fromAsync(of.diff(since))).map(({ kind, path, from = '' }) => `${kind} ${from} ${path}`)
    expect(await changes()).toEqual(['added  /workspace/b'])
    expect(await changes('first')).toEqual(['renamed /workspace/a /workspace/b'])
    expect(await workspace.fork('task', 'first')).toEqual({ name: 'task', time: expect.any(Date) })
    const fork = new NamespaceWorkspace(home, await home.vault('task'), '/workspace')
    expect(await changes(undefined, fork)).toEqual([])
    await expect(Array.fromAsync(workspace.diff('gone'))).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(workspace.fork('task')).rejects.toMatchObject({ code: 'EEXIST' })
  })

  it('returns patches with project paths, which git applies', async () => {
    await using home = await openHome()
    const { vault, workspace } = await workspaceOf(home)
    await vault.write('/src/a', 'one\ntwo\n')
    await workspace.checkpoint('first')
    await vault.rename('/src/a', '/src/b')
    await vault.write('/src/b', 'one\n2\n')
    const [patch = '', ...others] = await Array.fromAsync(workspace.patch('first'))
    expect(others).toEqual([])
    expect(patch).toContain('rename from src/a\nrename to src/b\n--- a/src/a\n+++ b/src/b\n')
    expect(patch.endsWith(' one\n-two\n+2\n')).toBe(true)
    expect((await Array.fromAsync(workspace.patch())).join('')).toContain('new file mode 100644')
  })

  it('merges a fork as the caller, or refuses and changes nothing', async () => {
    await using home = await openHome()
    const { vault, workspace } = await workspaceOf(home)
    await vault.write('/a', 'one\n')
    await workspace.fork('task')
    const fork = await home.vault('task')
    await fork.write('/a', 'theirs\n')
    await fork.write('/b', 'new\n')
    await vault.write('/a', 'ours\n')
    await expect(workspace.merge('task', 'fail', alice)).rejects.toMatchObject({ code: 'ECONFLICT' })
    expect(await vault.exists('/b')).toBe(false)
    const changes = await workspace.merge('task', 'theirs', { ...alice, trace: 'call-1' })
    expect(changes.map(({ path }) => path).sort()).toEqual(['/workspace/a', '/workspace/b'])
    expect(await readText(vault, '/a')).toBe('theirs\n')
    const [last] = await Array.fromAsync(vault.journal({ newestFirst: true }))
    expect(last).toMatchObject({ op: 'merge', caller: alice.caller, trace: 'call-1' })
  })
})
