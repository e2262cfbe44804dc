import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getLastOutput, type ResponsesTurn, startResponsesApi } from '../apis/responses-api.ts'
import { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { DOT } from './dot.ts'

const NAMESPACE = 'mcp__coppice'
const PATH = 'vfs:///workspace/long.txt'
const LINES = Array.from({ length: 5000 }, (_, at) => `line ${at + 1} of a long file`)
const TURNS: readonly ResponsesTurn[] = [
  call('file_read', { path: PATH, offset: 2499, limit: 3 }),
  call('file_edit', {
    ...{ path: PATH, operation: 'replace_string' },
    ...{ find: LINES[2499], replace: 'changed by a client' },
  }),
  call('shell_exec', { command: 'grep -n changed long.txt > found.txt; cat found.txt' }),
  call('file_read', { path: 'vfs:///workspace/dot.png' }),
  { text: 'All done.' },
]

/** Codex works through `coppice mcp`: it reads a part of a long file, edits it, runs a command, looks at an image. */
export const mcpCodex: Story = {
  name: 'mcp: Codex',
  async run(signal) {
    const seen: string[] = []
    await using api = await startResponsesApi((request, index) => {
      seen.push(getLastOutput(request))
      return TURNS[index] ?? { text: 'one request too many' }
    })
    const files = { 'long.txt': `${LINES.join('\n')}\n`, 'dot.png': Buffer.from(DOT, 'base64') }
    await using stage = await Stage.open(files, { STAND_IN_KEY: 'dummy' }, signal)
    await configureCodex(stage, api.url)
    const { code, stdout, stderr } = await stage.run('codex', [
      ...['exec', '--skip-git-repo-check', '--json', 'Edit the long file.'],
    ])
    assert.deepEqual(api.problems, [])
    assert.equal(code, 0, stderr + stdout)
    const offered = api.requests[0]?.tools.find(({ name }) => name === NAMESPACE)?.tools ?? []
    assert.ok(
      offered.some(({ name }) => name === 'shell_exec'),
      stdout,
    )
    const [, read, edited, ran, shown] = seen
    assert.match(read ?? '', /line 2500 of/)
    assert.match(edited ?? '', /edited vfs:/)
    assert.match(ran ?? '', /2500:changed by a client/)
    assert.match(shown ?? '', /data:image\/png;base64,/)
    assert.match(stdout, /All done\./)
    assert.equal(await stage.coppice('diff', '--vault', 'task'), 'A /found.txt\nM /long.txt\n')
    return `${api.requests.length} turns, ${offered.length} tools offered; read, edit, a command in the fork, an image`
  },
}

/** Writes the configuration that names the stand-in and `coppice mcp`. JSON strings and lists are valid TOML. */
async function configureCodex(stage: Stage, url: string): Promise<void> {
  const { command, args } = stage.getMcpCommand('--fork', 'task')
  const { COPPICE_HOME, COPPICE_CONTEXT } = stage.env
  const lines = [
    'model = "stand-in"',
    'model_provider = "local"',
    '[model_providers.local]',
    'name = "local"',
    `base_url = ${JSON.stringify(url)}`,
    'wire_api = "responses"',
    'env_key = "STAND_IN_KEY"',
    '[mcp_servers.coppice]',
    `command = ${JSON.stringify(command)}`,
    `args = ${JSON.stringify(args)}`,
    // `codex exec` cannot ask; without this it refuses every tool with a destructive hint.
    'default_tools_approval_mode = "approve"',
    '[mcp_servers.coppice.env]',
    `COPPICE_HOME = ${JSON.stringify(COPPICE_HOME)}`,
    `COPPICE_CONTEXT = ${JSON.stringify(COPPICE_CONTEXT)}`,
  ]
  await mkdir(join(stage.directory, '.codex'))
  await writeFile(join(stage.directory, '.codex/config.toml'), `${lines.join('\n')}\n`)
}

function call(tool: string, input: object): ResponsesTurn {
  return { namespace: NAMESPACE, tool, input }
}
