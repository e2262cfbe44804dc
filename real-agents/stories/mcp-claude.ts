import assert from 'node:assert/strict'
import {
  getLastText,
  type MessagesRequest,
  type MessagesTurn,
  startMessagesApi,
} from '../apis/messages-api.ts'
import type { Story } from '../story.ts'
import { openClaudeStage } from './claude-stage.ts'
import { DOT } from './dot.ts'

const PATH = 'vfs:///workspace/long.txt'
const LINES = Array.from({ length: 5000 }, (_, at) => `line ${at + 1} of a long file, ${'x'.repeat(60)}`)

const TOOLS = ['file_read', 'file_lines', 'file_grep', 'file_edit', 'shell_exec'] as const

/** Claude Code works through `coppice mcp`: it reads a long file in parts, edits it, runs a command, looks at an image. */
export const mcpClaude: Story = {
  name: 'mcp: Claude Code',
  async run(signal) {
    const seen: string[] = []
    const turns: readonly MessagesTurn[] = [
      { tool: 'ToolSearch', input: { query: `select:${TOOLS.map(getToolName).join(',')}` } },
      call('file_read', { path: PATH }),
      call('file_lines', { path: PATH, start: 2500, end: 2501 }),
      call('file_grep', { path: PATH, pattern: 'line 4999 ' }),
      call('file_edit', {
        path: PATH,
        operation: 'replace_string',
        find: LINES[2499],
        replace: 'changed by a client',
      }),
      call('shell_exec', { command: 'grep -n changed long.txt > found.txt; cat found.txt' }),
      call('file_read', { path: 'vfs:///workspace/dot.png' }),
      { text: 'All done.' },
    ]
    const answer = (request: MessagesRequest, index: number): MessagesTurn => {
      seen.push(getLastText(request))
      return turns[index] ?? { text: 'one request too many' }
    }
    await using api = await startMessagesApi(answer)
    const files = { 'long.txt': `${LINES.join('\n')}\n`, 'dot.png': Buffer.from(DOT, 'base64') }
    await using stage = await openClaudeStage(api, { files, signal })
    const servers = { mcpServers: { coppice: stage.getMcpCommand('--fork', 'task') } }
    const { stdout, stderr, code } = await stage.run('claude', [
      ...['-p', 'Edit the long file.', '--output-format', 'json', '--strict-mcp-config'],
      ...['--mcp-config', JSON.stringify(servers), '--allowedTools', 'mcp__coppice'],
    ])
    assert.deepEqual(api.problems, [])
    assert.equal(code, 0, stderr + stdout)
    const [, loaded, read, lines, found, edited, ran, shown] = seen
    for (const tool of TOOLS) assert.match(loaded ?? '', new RegExp(getToolName(tool)))
    // Without a word of the server, Claude Code replaces a result of this size by a preview.
    assert.match(read ?? '', /line 1 of[\s\S]*line 1000 of/)
    assert.match(lines ?? '', /line 2500 of[\s\S]*line 2501 of/)
    assert.match(found ?? '', /line 4999 of/)
    assert.doesNotMatch(edited ?? '', /EINVAL|error/i)
    assert.match(ran ?? '', /2500:changed by a client/)
    assert.match(shown ?? '', /"type":"image","source":\{[^}]*"media_type":"image\/png"/)
    assert.equal(await stage.coppice('diff', '--vault', 'task'), 'A /found.txt\nM /long.txt\n')
    return `${api.requests.length} turns; a page of ${read?.length} characters, lines, grep, edit, a command in the fork, an image`
  },
}

function call(tool: (typeof TOOLS)[number], input: object): MessagesTurn {
  return { tool: getToolName(tool), input }
}

function getToolName(tool: (typeof TOOLS)[number]): string {
  return `mcp__coppice__${tool}`
}
