import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type MessagesTurn, startMessagesApi } from '../apis/messages-api.ts'
import { type ResponsesTurn, startResponsesApi } from '../apis/responses-api.ts'
import { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { openClaudeStage } from './claude-stage.ts'

const FILES = {
  'notes.txt': 'notes\n',
  'old.txt': 'old\n',
  'a.txt': 'one\ntwo\n',
  '.env': 'TOKEN=1\n',
} as const
const BREAK = 'mkdir -p sub && mv old.txt sub/moved.txt; rm notes.txt .env; exit 3'

/** Claude Code in the project itself, with hooks: edits and shell commands are undone to the byte. */
export const undoClaude: Story = {
  name: 'hooks: Claude Code is undone',
  async run(signal) {
    let project = ''
    const turns = (): readonly MessagesTurn[] => [
      { tool: 'Read', input: { file_path: join(project, 'a.txt') } },
      { tool: 'Edit', input: { file_path: join(project, 'a.txt'), old_string: 'one', new_string: 'ONE' } },
      { tool: 'Bash', input: { command: BREAK } },
      { text: 'Done.' },
    ]
    await using api = await startMessagesApi((_request, index) => turns()[index] ?? { text: 'too many' })
    await using stage = await openClaudeStage(api, { files: FILES, signal })
    project = stage.project
    const settings = '{"cleanupPeriodDays": 99999}\n'
    await writeUserFile(stage, '.claude/settings.json', settings)
    await stage.coppice('hooks', 'install', 'claude')
    const words = [
      '-p',
      'Break things.',
      '--permission-mode',
      'acceptEdits',
      '--allowedTools',
      'Bash,Read,Edit',
    ]
    const { code, stdout, stderr } = await stage.run('claude', words)
    assert.equal(code, 0, stderr + stdout)
    const proved = await undoAndRedo(stage, /Edit .*a\.txt\n +M \/a\.txt/)
    await stage.coppice('hooks', 'remove', 'claude')
    assert.equal(await readFile(join(stage.directory, '.claude/settings.json'), 'utf8'), settings)
    assert.deepEqual(api.problems, [])
    return proved
  },
}

/** Codex in the project itself, with hooks. Its trust in hooks is given by an option, since nobody is at the terminal. */
export const undoCodex: Story = {
  name: 'hooks: Codex is undone',
  async run(signal) {
    const patch =
      "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** End Patch\nEOF"
    const turns: readonly ResponsesTurn[] = [
      { tool: 'exec_command', input: { cmd: patch } },
      { tool: 'exec_command', input: { cmd: BREAK } },
      { text: 'Done.' },
    ]
    await using api = await startResponsesApi((_request, index) => turns[index] ?? { text: 'too many' })
    await using stage = await Stage.open(FILES, { OPENAI_API_KEY: 'dummy' }, signal)
    const provider = `name = "local"\nbase_url = ${JSON.stringify(api.url)}\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n`
    const config = `model = "stand-in"\nmodel_provider = "local"\n[model_providers.local]\n${provider}`
    await writeUserFile(stage, '.codex/config.toml', config)
    await stage.coppice('hooks', 'install', 'codex')
    const options = [
      '--skip-git-repo-check',
      '--sandbox',
      'danger-full-access',
      '--dangerously-bypass-hook-trust',
    ]
    const { code, stdout, stderr } = await stage.run('codex', ['exec', ...options, 'Break things.'])
    assert.equal(code, 0, stderr + stdout)
    const proved = await undoAndRedo(stage, /Bash apply_patch.*\n +M \/a\.txt/)
    await stage.coppice('hooks', 'remove', 'codex')
    assert.deepEqual(api.problems, [])
    return proved
  },
}

/** Undoes the prompt, redoes it and undoes it again; a person's edit in between stays. */
async function undoAndRedo(stage: Stage, edit: RegExp): Promise<string> {
  const broken = await readProject(stage)
  assert.deepEqual(Object.keys(broken).sort(), ['a.txt', 'sub/moved.txt'])
  assert.equal(broken['a.txt'], 'ONE\ntwo\n')
  const listed = await stage.coppice('timeline')
  assert.match(listed, /^1 .*: Break things\.$/m)
  assert.match(listed, edit)
  assert.match(listed, /D \/notes\.txt/)
  assert.doesNotMatch(listed, /failed|you, or another program/)
  await stage.coppice('undo')
  assert.deepEqual(await readProject(stage), FILES)
  await stage.coppice('redo')
  assert.deepEqual(await readProject(stage), broken)
  await writeFile(join(stage.project, 'a.txt'), 'ONE\ntwo\nmine\n')
  assert.equal((await stage.tryCoppice('undo')).code, 3)
  await stage.coppice('undo', '--merge')
  assert.deepEqual(await readProject(stage), { ...FILES, 'a.txt': 'one\ntwo\nmine\n' })
  return 'an edit and a shell command undone to the byte, redone, and undone beside an edit of a person'
}

async function readProject(stage: Stage): Promise<Record<string, string>> {
  const entries = await readdir(stage.project, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  return Object.fromEntries(
    files.map((path, index) => [path.slice(stage.project.length + 1), texts[index] ?? '']),
  )
}

async function writeUserFile(stage: Stage, name: string, text: string): Promise<void> {
  await mkdir(join(stage.directory, name, '..'), { recursive: true })
  await writeFile(join(stage.directory, name), text)
}
