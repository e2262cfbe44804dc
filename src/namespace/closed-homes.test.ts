import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { contextCaller } from '../access/index.ts'
import { HostFs } from '../backends/host/index.ts'
import { type CallContext, list } from '../vfs/index.ts'
import { type NamespaceOptions, openNamespace } from './index.ts'

const alice: CallContext = { caller: contextCaller('alice') }

/** Creates a directory with a project and two homes in it. */
async function project(options: Partial<NamespaceOptions> = {}) {
  const around = mkdtempSync(join(tmpdir(), 'coppice-closed-'))
  onTestFinished(() => rmSync(around, { recursive: true, force: true }))
  const [home, other, work] = ['home', 'other', 'work'].map((name) => join(around, 'in', name))
  if (home === undefined || other === undefined || work === undefined) throw new Error('unreachable')
  for (const directory of [home, other, work]) mkdirSync(directory, { recursive: true })
  for (const directory of [home, other]) {
    mkdirSync(join(directory, 'sessions/s'), { recursive: true })
    writeFileSync(join(directory, 'policy.toml'), 'secret rules\n')
    writeFileSync(join(directory, 'sessions/s/file'), 'secret work\n')
  }
  writeFileSync(join(work, 'file'), 'text\n')
  const given = { home, context: 'alice', allow: [around], closed: [other, join(around, 'later')] }
  const namespace = await openNamespace({ ...given, ...options })
  onTestFinished(() => namespace.close())
  const call = (tool: string, args: Record<string, unknown>) => namespace.tools().call(tool, args)
  return { around, home, other, work, namespace, call }
}

const REFUSED = { isError: true, error: { code: 'EACCES' } }

describe.each(['home', 'other'] as const)('the directory of the %s home', (which) => {
  it('is neither read nor written by tools, whatever is allowed', async () => {
    const { call, ...places } = await project()
    const home = places[which]
    const files = ['policy.toml', 'sessions/s/file', 'new', 'checkouts/new/file', 'config.toml']
    for (const file of files) {
      const path = join(home, file)
      expect(await call('write_file', { path, content: 'x' }), file).toMatchObject(REFUSED)
      expect(await call('file_head', { path }), file).toMatchObject(REFUSED)
    }
    expect(readFileSync(join(home, 'policy.toml'), 'utf8')).toBe('secret rules\n')
    expect(existsSync(join(home, 'new'))).toBe(false)
  })

  it('is not reachable by a link, a second name of a file or another path', async () => {
    const { call, work, around, ...places } = await project()
    const home = places[which]
    symlinkSync(home, join(work, 'link'))
    symlinkSync(join(home, 'policy.toml'), join(work, 'rules'))
    linkSync(join(home, 'policy.toml'), join(work, 'hard'))
    const through = `/proc/self/root${home}`
    const paths = ['link/policy.toml', 'rules', 'hard'].map((name) => join(work, name))
    for (const path of [...paths, join(through, 'policy.toml')]) {
      expect(await call('file_head', { path }), path).toMatchObject(REFUSED)
      expect(await call('write_file', { path, content: 'x' }), path).toMatchObject(REFUSED)
    }
    const found = await call('file_grep', { path: around, pattern: 'secret' })
    expect(found).toMatchObject({ isError: false, text: expect.stringContaining('no line') })
  })

  it('does not appear in any search', async () => {
    const { call, around } = await project()
    const found = await call('file_glob', { path: around, pattern: '**/*' })
    expect(found).toMatchObject({ isError: false, text: expect.stringContaining('work/file') })
    expect(found.text).not.toContain('policy.toml')
    expect(found.text).not.toContain('sessions')
  })

  it('is closed in mounts of directories', async () => {
    const { around, ...places } = await project()
    const { home, other } = places
    const config = { mounts: { '/m': { backend: 'host', directory: around } } } as const
    const open = (options: Partial<NamespaceOptions>) =>
      openNamespace({ home, closed: [other], context: 'alice', ...options })
    await using namespace = await open({ config })
    const { fs } = namespace
    const content = Array.fromAsync(fs.read(`/m/in/${which}/policy.toml`, {}, alice))
    await expect(content).rejects.toMatchObject({ code: 'EACCES' })
    const names = (await list(fs, '/m/in', alice)).map(({ name }) => name)
    expect(names).toEqual(['work'])
    for (const directory of [around, places[which], join(places[which], 'sessions')]) {
      const refused = open({ mounts: { '/given': new HostFs(directory) } })
      await expect(refused, directory).rejects.toMatchObject({ code: 'EINVAL' })
    }
  })
})

it('a missing home cannot be created by an agent', async () => {
  const { call, around } = await project()
  for (const name of ['later/policy.toml', 'LATER/policy.toml', 'later/sessions/x']) {
    const result = await call('write_file', { path: join(around, name), content: 'x' })
    expect(result, name).toMatchObject(REFUSED)
  }
  expect(existsSync(join(around, 'later'))).toBe(false)
  expect(await call('write_file', { path: join(around, 'in/later'), content: 'x' })).toMatchObject({
    isError: false,
  })
})
