import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHookCommands, getHookFile, getHookProgram, HookFile, hookProgramNames } from './index.ts'

const WORDS = ['/usr/bin/node', '/opt/with space/bin/coppice.js']
/** Hooks and settings of a user, with indentation of four and an order of their own. */
const USERS = `{
    "model": "opus",
    "hooks": {
        "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "coppice hooks list" }] }
        ],
        "Stop": []
    },
    "env": { "A": "1" }
}
`

describe('hooks of a program', () => {
  let place: string
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'coppice-hooks-'))
  })
  afterEach(() => rmSync(place, { recursive: true }))

  const openFile = (name: (typeof hookProgramNames)[number], text?: string) => {
    const program = getHookProgram(name)
    const path = join(place, 'settings.json')
    if (text !== undefined) writeFileSync(path, text)
    return { path, file: new HookFile(path, program), commands: createHookCommands(WORDS, program) }
  }

  it.each(hookProgramNames)('of %s are added beside others, and taken out to the byte', (name) => {
    const { path, file, commands } = openFile(name, USERS)
    chmodSync(path, 0o640)
    expect(file.install(commands)).toBe(true)
    expect(file.install(commands)).toBe(false)
    expect(file.findCommands()).toEqual(commands)
    const installed = JSON.parse(readFileSync(path, 'utf8'))
    expect(installed).toMatchObject({ model: 'opus', env: { A: '1' } })
    expect(installed.hooks.PreToolUse[0].hooks[0].command).toBe('coppice hooks list')
    for (const event of getHookProgram(name).events)
      expect(JSON.stringify(installed.hooks[event])).toContain(JSON.stringify(commands.record))
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readFileSync(file.backup, 'utf8')).toBe(USERS)
    expect(file.remove()).toBe(true)
    expect(readFileSync(path, 'utf8')).toBe(USERS)
    expect(existsSync(file.backup)).toBe(false)
    expect(file.remove()).toBe(false)
  })

  it.each(hookProgramNames)('of %s leave no file where there was none', (name) => {
    const { path, file, commands } = openFile(name)
    file.install(commands)
    file.remove()
    expect(existsSync(path)).toBe(false)
  })

  it.each(hookProgramNames)('of %s leave no directory behind, unless it has other files', (name) => {
    const program = getHookProgram(name)
    const path = getHookFile(program, { userDirectory: place, configDirectory: undefined }, undefined)
    const file = new HookFile(path, program)
    for (const hasOthers of [false, true]) {
      file.install(createHookCommands(WORDS, program))
      if (hasOthers) writeFileSync(join(dirname(path), 'notes.md'), '')
      file.remove()
      expect(existsSync(path)).toBe(false)
      expect(existsSync(dirname(path))).toBe(hasOthers)
    }
  })

  it('keep what the user changed after the installation', () => {
    const { path, file, commands } = openFile('claude', USERS)
    file.install(commands)
    const settings = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...settings, model: 'haiku' }))
    file.remove()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ ...JSON.parse(USERS), model: 'haiku' })
  })

  it('are written as Cursor reads them', () => {
    const { path, file, commands } = openFile('cursor')
    file.install(commands)
    const { version, hooks } = JSON.parse(readFileSync(path, 'utf8'))
    expect(version).toBe(1)
    expect(hooks.preToolUse).toEqual([{ command: commands.record, timeout: 120 }])
  })

  it('replace those of another installation', () => {
    const { path, file } = openFile('claude', '{}')
    const program = getHookProgram('claude')
    file.install(createHookCommands(['/old/coppice.js'], program, { worktrees: true }))
    file.install(createHookCommands(['/new/coppice.js'], program, { home: '/a home' }))
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain('/old/')
    expect(text).toContain("/new/coppice.js hook claude --home '/a home' || :")
  })

  it('serve worktrees on request, and are taken out with the others', () => {
    const { path, file } = openFile('claude', USERS)
    const commands = createHookCommands(WORDS, getHookProgram('claude'), { worktrees: true })
    file.install(commands)
    const { hooks } = JSON.parse(readFileSync(path, 'utf8'))
    for (const event of ['WorktreeCreate', 'WorktreeRemove'])
      expect(hooks[event]).toEqual([
        { hooks: [{ type: 'command', command: commands.worktree, timeout: 120 }] },
      ])
    expect(commands.worktree).toMatch(/ hook claude --worktree$/)
    expect(file.findCommands()).toEqual(commands)
    file.remove()
    expect(readFileSync(path, 'utf8')).toBe(USERS)
  })

  it('are written through a link to the file', () => {
    writeFileSync(join(place, 'real.json'), '{}')
    symlinkSync('real.json', join(place, 'settings.json'))
    const { path, file, commands } = openFile('gemini')
    file.install(commands)
    expect(readFileSync(join(place, 'real.json'), 'utf8')).toContain('BeforeTool')
    expect(readFileSync(path, 'utf8')).toContain('BeforeTool')
  })

  it('leave a file with comments as it is', () => {
    const { path, file, commands } = openFile('gemini', '{ // mine\n}')
    expect(() => file.install(commands)).toThrow(/is not plain JSON/)
    expect(readFileSync(path, 'utf8')).toBe('{ // mine\n}')
  })

  it('are in the directory that a variable names', () => {
    const places = { userDirectory: '/home/me', configDirectory: '/etc/claude' }
    expect(getHookFile(getHookProgram('claude'), places, undefined)).toBe('/etc/claude/settings.json')
    expect(getHookFile(getHookProgram('codex'), { userDirectory: '/home/me' }, undefined)).toBe(
      '/home/me/.codex/hooks.json',
    )
    expect(getHookFile(getHookProgram('claude'), places, '/p')).toBe('/p/.claude/settings.local.json')
  })
})
