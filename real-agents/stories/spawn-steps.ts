import assert from 'node:assert/strict'
import { getLastText, startMessagesApi } from '../apis/messages-api.ts'
import type { Story } from '../story.ts'
import { formatToolCall, openClaudeStage, spawnClaude, waitForOutcome } from './claude-stage.ts'

const SUM = 'export const sum = (a, b) => a - b\n'
const TEST = "import { sum } from './sum.mjs'\nif (sum(1, 2) !== 3) throw new Error('the sum is wrong')\n"
const PATH = 'vfs:///workspace/sum.mjs'

/** The answers of a model that repairs a function: a plan, broken JSON, single calls, two calls at once, the end. */
const ANSWERS = [
  JSON.stringify({ action: 'plan', steps: ['look', 'test', 'repair', 'test again'] }),
  '{"action": "tool_call", "tool": "file_read", "input": {"path"',
  formatToolCall('file_read', { path: PATH }),
  formatToolCall('shell_exec', { command: 'node test.mjs' }),
  `[${formatToolCall('file_edit', { path: PATH, operation: 'replace_string', find: 'a - b', replace: 'a + b' })},
   ${formatToolCall('write_file', { path: 'vfs:///workspace/NOTES.md', content: 'sum subtracted\n' })}]`,
  `\`\`\`json\n${formatToolCall('shell_exec', { command: 'node test.mjs && echo passed' })}\n\`\`\``,
  JSON.stringify({ action: 'complete', result: 'sum adds again' }),
]

/** A process with Claude Code as its model repairs a project in many steps. */
export const spawnSteps: Story = {
  name: 'spawn: many steps with tools',
  async run(signal) {
    const shown: string[] = []
    await using api = await startMessagesApi((request, index) => {
      shown.push(getLastText(request))
      return { text: ANSWERS[index] ?? 'one request too many' }
    })
    const files = { 'sum.mjs': SUM, 'test.mjs': TEST }
    await using stage = await openClaudeStage(api, { files, signal })
    const { pid, fork } = await spawnClaude(stage, 'repair the sum')
    const outcome = await waitForOutcome(stage, pid)
    assert.deepEqual([outcome.result, outcome.exit_code], ['sum adds again', 0], outcome.reason)
    const expected = [/not valid JSON/, /a - b/, /the sum is wrong/, /edited [\s\S]*NOTES\.md/, /passed/]
    for (const [at, pattern] of expected.entries()) assert.match(shown[at + 2] ?? '', pattern)
    assert.deepEqual(
      api.requests.map(({ tools }) => tools),
      ANSWERS.map(() => []),
    )
    assert.match(await stage.coppice('cat', '/sum.mjs', '--vault', fork), /a \+ b/)
    assert.equal(await stage.coppice('diff', '--vault', fork), 'A /NOTES.md\nM /sum.mjs\n')
    assert.equal(await stage.coppice('cat', '/sum.mjs', '--vault', 'base'), SUM)
    assert.deepEqual(await stage.findProcesses('claude'), [])
    assert.deepEqual(api.problems, [])
    return `${ANSWERS.length} requests, changes in ${fork} alone`
  },
}
