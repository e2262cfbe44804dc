import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findProgramProfile, ProfileStore } from './index.ts'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM_MODE = 0o755

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-profiles-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Opens the built-in profiles and those of a home. */
function openStore(own: Readonly<Record<string, string>> = {}): ProfileStore {
  const home = createDirectory()
  mkdirSync(join(home, 'profiles'))
  for (const [name, text] of Object.entries(own)) writeFileSync(join(home, 'profiles', name), text)
  return ProfileStore.read(PACKAGE, home)
}

function createProgram(directory: string, name: string): string {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, name), '', { mode: PROGRAM_MODE })
  return join(directory, name)
}

describe('the built-in profiles', () => {
  it('are valid, and those of agents mask secrets', () => {
    const profiles = openStore().list()
    const agents = ['aider', 'claude', 'codex', 'cursor-agent', 'gemini', 'opencode']
    expect(profiles.filter(({ mask }) => mask).map(({ name }) => name)).toEqual(agents)
    expect(profiles.every(({ summary }) => summary !== '')).toBe(true)
  })

  it('share files of logins only, and give registries and Git by name alone', () => {
    const profiles = openStore().list()
    const shared = profiles.flatMap(({ paths }) => paths.filter(({ mode }) => mode === 'share'))
    expect(
      shared.every(({ path, isDirectory }) => /(?:auth|cred)[^/]*\.json$/.test(path) && !isDirectory),
    ).toBe(true)
    const byName = profiles.filter(({ programs }) => programs.length === 0).map(({ name }) => name)
    expect(byName).toEqual(['git', 'registry-logins'])
  })

  it('are replaced by those of the home with the same name or program', () => {
    const store = openStore({
      'claude.toml': 'programs = ["claude"]\nhosts = ["proxy.example"]\n',
      'mine.toml': 'programs = ["codex"]\n',
      'not a profile.toml': 'x',
      'readme.md': 'x',
    })
    expect(store.get('claude')).toMatchObject({ hosts: ['proxy.example'], isBuiltIn: false, paths: [] })
    expect(store.findByProgram('codex')?.name).toBe('mine')
    expect(store.findByProgram('gemini')?.name).toBe('gemini')
    expect(store.findByProgram('ls')).toBeUndefined()
  })
})

describe('the profile of a program', () => {
  it('is chosen by a name on the PATH, or by an absolute path', async () => {
    const bin = join(createDirectory(), 'bin')
    const program = createProgram(bin, 'claude')
    const find = (argv: string[]) => findProgramProfile(openStore(), { argv }, `/nowhere:${bin}`, '/project')
    expect(await find(['claude', '-p'])).toMatchObject({ profile: { name: 'claude' }, program })
    expect(await find([program])).toMatchObject({ program })
    expect(await find(['codex'])).toBeUndefined()
    expect(await find(['./claude'])).toBeUndefined()
  })

  it('is not chosen by a program in the workspace, also behind a directory of the PATH', async () => {
    const project = createDirectory()
    const program = createProgram(join(project, 'node_modules/.bin'), 'claude')
    const path = join(project, 'node_modules/.bin')
    for (const argv of [['claude'], [program]])
      expect(await findProgramProfile(openStore(), { argv }, path, project)).toBeUndefined()
    const outside = createProgram(join(createDirectory(), 'bin'), 'claude')
    const both = `${path}:${join(outside, '..')}`
    expect(await findProgramProfile(openStore(), { argv: ['claude'] }, both, project)).toMatchObject({
      program: outside,
    })
  })

  it('is not chosen by a line for a shell', async () => {
    const bin = join(createDirectory(), 'bin')
    createProgram(bin, 'claude')
    expect(await findProgramProfile(openStore(), { shell: 'claude' }, bin, undefined)).toBeUndefined()
  })
})
