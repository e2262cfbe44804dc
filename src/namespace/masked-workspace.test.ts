import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../backends/vault/index.ts'
import { SecretFiles } from '../secrets/index.ts'
import { readText } from '../vfs/index.ts'
import { openNamespace } from './open-namespace.ts'

const ENV = '# settings\nAPI_KEY=real-key-1\nTOKEN="real-token"\nPORT=3000\n'
const REAL = /real-/
const PLACEHOLDER = /coppice-secret-[0-9a-f]{32}/

/** A vault with secrets, and the tools of an agent on it. */
async function openProject() {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-masked-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  {
    await using home = await openHome({ path: directory })
    const vault = await home.createVault('base')
    await vault.write('/.env', ENV)
    await vault.write('/src/a.ts', 'export const port = 3000\n')
    await vault.write('/conf/credentials.json', '{"password": "real-json"}\n')
    await vault.symlink('/.env', '/linked')
    await vault.link('/.env', '/second.txt')
    await vault.checkpoint('before')
  }
  const namespace = await openNamespace({
    home: directory,
    context: 'agent',
    vault: 'base',
    mask: { files: new SecretFiles() },
  })
  onTestFinished(() => namespace.close())
  const tools = namespace.tools()
  const call = async (name: string, args: Record<string, unknown>): Promise<string> =>
    (await tools.call(name, args)).text
  /** Reads what the vault has. */
  const stored = async (path: string): Promise<string> => {
    await using home = await openHome({ path: directory })
    return readText(await home.vault('base'), path)
  }
  return { call, stored }
}

it.each([
  ['file_read', { path: 'vfs:///workspace/.env' }],
  ['file_read', { path: 'vfs:///workspace/linked' }],
  ['file_read', { path: 'vfs:///workspace/second.txt' }],
  ['file_read', { path: 'vfs:///workspace/conf/credentials.json' }],
  ['file_lines', { path: 'vfs:///workspace/.env', start: 1, end: 3 }],
  ['file_tail', { path: 'vfs:///workspace/.env', lines: 3 }],
  ['file_grep', { path: 'vfs:///workspace', pattern: 'KEY|TOKEN|password' }],
  ['file_grep', { path: 'vfs:///workspace/linked', pattern: 'KEY|TOKEN' }],
  ['workspace_diff', {}],
])('%s of %j shows placeholders', async (name, args) => {
  const { call } = await openProject()
  const text = await call(name, args)
  expect(text).toMatch(PLACEHOLDER)
  expect(text).not.toMatch(REAL)
})

it('finds by what it shows, so that a pattern says nothing about a value', async () => {
  const { call } = await openProject()
  for (const pattern of ['real-key', 'API_KEY=[r]', 'TOKEN="r']) {
    const text = await call('file_grep', { path: 'vfs:///workspace', pattern })
    expect(text).not.toMatch(/\.env|second|linked/)
  }
})

it('puts the values back on an edit, and takes changed and added keys', async () => {
  const { call, stored } = await openProject()
  const path = 'vfs:///workspace/.env'
  await call('file_read', { path })
  await call('file_edit', {
    path,
    operation: 'replace_string',
    find: 'PORT=3000',
    replace: 'PORT=4000\nNEW=1',
  })
  expect(await stored('/.env')).toBe(ENV.replace('PORT=3000', 'PORT=4000\nNEW=1'))
  expect(await stored('/second.txt')).toContain('real-key-1')
  await call('file_edit', { path, operation: 'replace_string', find: 'PORT=4000', replace: 'PORT=5000' })
  expect(await stored('/.env')).toContain('PORT=5000')
  expect(await call('workspace_diff', { since: 'before' })).not.toMatch(REAL)
})

it('puts the values back in a written file, and refuses one that has no place for them', async () => {
  const { call, stored } = await openProject()
  const path = 'vfs:///workspace/.env'
  const shown = (await call('file_read', { path })).match(/TOKEN="[^"]*"/)?.[0] ?? ''
  expect(shown).toMatch(PLACEHOLDER)
  await call('write_file', { path, content: `${shown}\n` })
  expect(await stored('/.env')).toBe('TOKEN="real-token"\n')
  const credentials = 'vfs:///workspace/conf/credentials.json'
  const [placeholder = ''] = (await call('file_read', { path: credentials })).match(PLACEHOLDER) ?? []
  expect(await call('write_file', { path: credentials, content: `${placeholder} and more` })).toContain(
    'no place for them',
  )
  expect(await stored('/conf/credentials.json')).toContain('real-json')
})

it('shows no value under another name', async () => {
  const { call, stored } = await openProject()
  const [from, to] = ['vfs:///workspace/.env', 'vfs:///workspace/notes.txt']
  expect(await call('vfs_move', { src: from, dst: to })).toContain('its values are masked')
  await call('vfs_copy', { src: from, dst: to })
  expect(await stored('/notes.txt')).toMatch(PLACEHOLDER)
  expect(await stored('/notes.txt')).not.toMatch(REAL)
  await call('vfs_move', { src: from, dst: 'vfs:///workspace/.env.local' })
  expect(await stored('/.env.local')).toBe(ENV)
})
