import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getLastText, type MessagesTurn, startMessagesApi } from '../apis/messages-api.ts'
import { getLastOutput, type ResponsesTurn, startResponsesApi } from '../apis/responses-api.ts'
import { type Finished, Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { allowStandIn } from './allow-stand-in.ts'
import { openClaudeStage } from './claude-stage.ts'

const FILES = { 'notes.txt': 'notes of the project\n', '.env': 'TOKEN=SECRET-1\n' } as const
const SETTINGS = '{"cleanupPeriodDays": 99999}\n'

/** `coppice exec -- claude`: its real tools change the fork, and its session goes on in the next command. */
export const execClaude: Story = {
  name: 'exec: Claude Code',
  async run(signal) {
    const turns: readonly MessagesTurn[] = [
      { tool: 'Bash', input: { command: 'cat notes.txt .env; cat ~/.ssh/id; echo made > made.txt' } },
      { text: 'First answer.' },
      { text: 'Second answer.' },
    ]
    const seen: string[] = []
    await using api = await startMessagesApi((request, index) => {
      seen.push(getLastText(request))
      return turns[index] ?? { text: 'one request too many' }
    })
    await using stage = await openClaudeStage(api, {
      files: FILES,
      signal,
    })
    await writeUserFiles(stage, { '.claude/settings.json': SETTINGS, '.claude.json': '{"numStartups": 7}\n' })
    const claude = (...words: string[]) =>
      execAgent(stage, api.url, 'claude', '-p', ...words, '--allowedTools', 'Bash')
    const first = await claude('Make a file.')
    assert.equal(first.code, 0, first.stderr + first.stdout)
    assert.match(first.stdout, /First answer\./)
    assert.match(seen[1] ?? '', /notes of the project/)
    assert.match(seen[1] ?? '', /TOKEN=coppice-secret-/)
    assert.doesNotMatch(seen[1] ?? '', /SECRET/)
    const second = await claude('And again.', '--continue')
    assert.match(second.stdout, /Second answer\./, second.stderr)
    // The session of the first command is in the fork's own copy.
    assert.match(JSON.stringify(api.requests.at(-1)?.messages), /First answer\./)
    assert.deepEqual(api.problems, [])
    await assertUnchanged(stage, {
      '.claude/settings.json': SETTINGS,
      '.claude.json': '{"numStartups": 7}\n',
    })
    assert.ok(!existsSync(join(stage.directory, '.claude/projects')))
    assert.match(await stage.coppice('diff', 'task'), /made\.txt/)
    return `${api.requests.length} requests; a change in the fork, --continue in the next command, the home as it was`
  },
}

/** `coppice exec -- codex exec`: its real commands change the fork, and its session is kept there. */
export const execCodex: Story = {
  name: 'exec: Codex',
  async run(signal) {
    const turns: readonly ResponsesTurn[] = [
      { tool: 'exec_command', input: { cmd: 'cat notes.txt .env; cat ~/.ssh/id; echo made > made.txt' } },
      { text: 'First answer.' },
      { text: 'Second answer.' },
    ]
    const seen: string[] = []
    await using api = await startResponsesApi((request, index) => {
      seen.push(getLastOutput(request))
      return turns[index] ?? { text: 'one request too many' }
    })
    await using stage = await Stage.open(FILES, {}, signal)
    const config = createCodexConfig(api.url)
    const login = '{"OPENAI_API_KEY": "dummy"}\n'
    await writeUserFiles(stage, { '.codex/config.toml': config, '.codex/auth.json': login })
    const options = ['--skip-git-repo-check', '--sandbox', 'danger-full-access']
    const first = await execAgent(stage, api.url, 'codex', 'exec', ...options, 'Make a file.')
    assert.equal(first.code, 0, first.stderr + first.stdout)
    assert.match(first.stdout, /First answer\./)
    assert.match(seen[1] ?? '', /notes of the project/)
    assert.match(seen[1] ?? '', /TOKEN=coppice-secret-/)
    assert.doesNotMatch(seen[1] ?? '', /SECRET/)
    const second = await execAgent(
      stage,
      api.url,
      'codex',
      'exec',
      ...options,
      'resume',
      '--last',
      'And again.',
    )
    assert.match(second.stdout, /Second answer\./, second.stderr)
    assert.deepEqual(api.problems, [])
    await assertUnchanged(stage, { '.codex/config.toml': config, '.codex/auth.json': login })
    assert.ok(!existsSync(join(stage.directory, '.codex/sessions')))
    assert.match(await stage.coppice('diff', 'task'), /made\.txt/)
    return `${api.requests.length} requests; a change in the fork, resume in the next command, the home as it was`
  },
}

/** Runs a program in the fork `task`. It may reach the stand-in, and asks nothing. */
async function execAgent(stage: Stage, url: string, ...argv: string[]): Promise<Finished> {
  await allowStandIn(stage, url)
  return stage.tryCoppice('exec', '--fork', 'task', '--with', 'stand-in', '--', ...argv)
}

/** Writes files of the home directory, and a key that no program may see. */
async function writeUserFiles(stage: Stage, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries({ ...files, '.ssh/id': 'SECRET\n' })) {
    const path = join(stage.directory, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, content)
  }
}

async function assertUnchanged(stage: Stage, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files))
    assert.equal(await readFile(join(stage.directory, name), 'utf8'), content, name)
}

function createCodexConfig(url: string): string {
  return `model = "stand-in"
model_provider = "local"
[model_providers.local]
name = "local"
base_url = ${JSON.stringify(url)}
wire_api = "responses"
requires_openai_auth = true
`
}
