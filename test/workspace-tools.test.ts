import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../src/backends/vault/index.ts'
import { openNamespace } from '../src/namespace/index.ts'
import type { ToolRegistry } from '../src/tools/index.ts'

type Call = (name: string, args: object) => Promise<string>

interface Opened {
  readonly home: string
  readonly tools: ToolRegistry
  readonly text: Call
  /** Opens the tools for another context, in a fork. */
  readonly inFork: (name: string) => Promise<Call>
  /** Opens the tools for a read-only context. */
  readonly readOnly: () => Promise<ToolRegistry>
}

/** Opens tools of a context whose workspace is a vault with one file. */
async function workspaceTools(): Promise<Opened> {
  const home = mkdtempSync(join(tmpdir(), 'coppice-workspace-'))
  const store = await openHome({ path: home })
  const vault = await store.createVault('project')
  await vault.write('/notes.md', 'one\ntwo\nthree\n')
  await store.close()
  const open = async (context: string, options: { fork?: string; isReadOnly?: boolean } = {}) => {
    const namespace = await openNamespace({ home, context, vault: 'project', ...options })
    onTestFinished(() => namespace.close())
    return namespace.tools()
  }
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const tools = await open('anna')
  const inFork = async (name: string) => calling(await open('ben', { fork: name }))
  return { home, tools, text: calling(tools), inFork, readOnly: () => open('carla', { isReadOnly: true }) }
}

function calling(tools: ToolRegistry): Call {
  return async (name, args) => (await tools.call(name, args)).text
}

const notes = 'vfs:///workspace/notes.md'
const change = { path: notes, operation: 'replace_lines', start: 2, content: 'TWO' }

describe('the tools of a workspace', () => {
  it('take relative paths as paths in the workspace', async () => {
    const { tools, text } = await workspaceTools()
    expect(await text('file_head', { path: 'notes.md', lines: 1 })).toContain('one')
    await text('write_file', { path: './src/new.ts', content: 'x\n' })
    expect(await text('vfs_list', { path: '.' })).toContain('src/')
    await text('vfs_move', { src: 'src/new.ts', dst: 'src/moved.ts' })
    expect(await text('vfs_info', { path: 'src/moved.ts' })).toContain('vfs:///workspace/src/moved.ts')
    for (const path of ['../shared/a', 'src/../../shared/a', '~/a', 'file:a']) {
      const refused = await tools.call('write_file', { path, content: 'x' })
      expect(refused.isError, path).toBe(true)
    }
    expect(await text('vfs_list', { path: 'vfs:///shared' })).toBe('vfs:///shared is empty')
  })

  it('show changes since a checkpoint, as a patch or as a list', async () => {
    const { text } = await workspaceTools()
    expect(await text('workspace_checkpoint', { name: 'start' })).toMatch(
      /^checkpoint 'start' of project taken at 2/,
    )
    expect(await text('workspace_diff', { since: 'start' })).toBe('nothing changed')
    await text('file_edit', change)
    expect(await text('workspace_diff', { since: 'start' })).toContain('-two\n+TWO\n')
    expect(await text('workspace_diff', { since: 'start', format: 'files' })).toBe(
      'modified\t/workspace/notes.md',
    )
  })

  it('show other changes after one that is too long', async () => {
    const { text } = await workspaceTools()
    await text('workspace_checkpoint', { name: 'start' })
    await text('write_file', { path: 'vfs:///workspace/long.txt', content: 'x'.repeat(5_000_000) })
    await text('file_edit', change)
    const patch = await text('workspace_diff', { since: 'start' })
    expect(patch).toContain('+++ b/long.txt\n@@ -0,0 +1 @@\n… (50000')
    expect(patch).toContain('more characters of this patch are left out; read the file itself)\ndiff --git')
    expect(patch).toContain('-two\n+TWO\n')
  })

  it('mark files that became setuid or setgid, in lists and patches', async () => {
    const { home, text, inFork } = await workspaceTools()
    const own = await inFork('task')
    await using store = await openHome({ path: home })
    const fork = await store.vault('task')
    await fork.setattr('/notes.md', { mode: 0o4755 })
    await fork.write('/tool', 'x', { mode: 0o6755 })
    expect(await own('workspace_diff', { format: 'files' })).toBe(
      'modified\t/workspace/notes.md\t(setuid)\nadded\t/workspace/tool\t(setuid, setgid)',
    )
    expect(await own('workspace_diff', {})).toContain('mode of /tool: 6755 (setuid, setgid)')
    expect(await text('workspace_merge', { fork: 'task' })).toContain('/workspace/notes.md\t(setuid)')
  })

  it('restore everything, and allow edits of files read before', async () => {
    const { tools, text } = await workspaceTools()
    await text('workspace_checkpoint', { name: 'start' })
    await text('file_edit', change)
    expect(await text('workspace_restore', { name: 'start' })).toBe(
      "vfs:///workspace is restored to checkpoint 'start'",
    )
    expect(await text('file_lines', { path: notes, start: 2, end: 2 })).toBe('two')
    await text('file_edit', change)
    await text('workspace_restore', { name: 'start' })
    expect((await tools.call('file_edit', change)).isError).toBe(false)
  })

  it('fork, and merge the fork into later changes', async () => {
    const { text, inFork } = await workspaceTools()
    expect(await text('workspace_fork', { name: 'try' })).toContain("forked project as 'try'")
    const other = await inFork('try')
    await other('file_edit', change)
    await other('write_file', { path: 'vfs:///workspace/new.md', content: 'new\n' })
    await text('file_edit', { path: notes, operation: 'insert_after', start: 3, content: 'four' })
    const merged = await text('workspace_merge', { fork: 'try' })
    expect(merged.split('\n').sort()).toEqual(['added\t/workspace/new.md', 'modified\t/workspace/notes.md'])
    expect(await text('file_head', { path: notes })).toBe('one\nTWO\nthree\nfour')
    expect(await text('workspace_merge', { fork: 'try' })).toBe("'try' has no changes to merge")
  })

  it('refuse to merge conflicting changes, until one side is chosen', async () => {
    const { tools, text, inFork } = await workspaceTools()
    await text('workspace_fork', { name: 'try' })
    const other = await inFork('try')
    await other('file_edit', change)
    await text('file_edit', { ...change, content: 'zwei' })
    expect((await tools.call('workspace_merge', { fork: 'try' })).error?.code).toBe('ECONFLICT')
    expect(await text('file_lines', { path: notes, start: 2, end: 2 })).toBe('zwei')
    await text('workspace_merge', { fork: 'try', on_conflict: 'theirs' })
    expect(await text('file_lines', { path: notes, start: 2, end: 2 })).toBe('TWO')
  })

  it('refuse an existing fork name, and a missing fork', async () => {
    const { tools } = await workspaceTools()
    await tools.call('workspace_fork', { name: 'try' })
    expect((await tools.call('workspace_fork', { name: 'try' })).error?.code).toBe('EEXIST')
    expect((await tools.call('workspace_merge', { fork: 'nope' })).error?.code).toBe('ENOENT')
  })

  it('change nothing for a read-only context, and still show everything', async () => {
    const { text, readOnly } = await workspaceTools()
    await text('workspace_checkpoint', { name: 'start' })
    await text('workspace_fork', { name: 'try' })
    await text('file_edit', change)
    const reader = await readOnly()
    for (const [name, args] of [
      ['workspace_restore', { name: 'start' }],
      ['workspace_merge', { fork: 'try', on_conflict: 'theirs' }],
      ['workspace_checkpoint', { name: 'mine' }],
      ['workspace_fork', { name: 'mine' }],
    ] as const) {
      expect([name, (await reader.call(name, args)).error?.code]).toEqual([name, 'EACCES'])
    }
    expect(await text('file_lines', { path: notes, start: 2, end: 2 })).toBe('TWO')
    expect((await reader.call('workspace_diff', { since: 'start' })).text).toContain('+TWO')
    expect((await reader.call('workspace_log', {})).text).not.toContain('mine')
  })

  it('show the history, newest first, with its checkpoints', async () => {
    const { text } = await workspaceTools()
    await text('workspace_checkpoint', { name: 'start' })
    await text('file_edit', change)
    const lines = (await text('workspace_log', { limit: 2 })).split('\n')
    expect(lines[0]).toMatch(/^checkpoint\t.*\tstart$/)
    expect(lines[1]).toMatch(/\tanna\twrite\t\/workspace\/notes\.md$/)
    expect(lines).toHaveLength(3)
  })

  it.each([
    ['workspace_diff', { since: 'nope' }],
    ['workspace_restore', { name: 'nope' }],
    ['workspace_fork', { name: 'x', at: 'nope' }],
  ])('reports what is missing: %s %j', async (name, args) => {
    const { tools } = await workspaceTools()
    const result = await tools.call(name, args)
    expect(result.error?.code).toBe('ENOENT')
    expect(result.text).toContain('nope')
  })
})
