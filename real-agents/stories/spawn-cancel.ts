import assert from 'node:assert/strict'
import { startMessagesApi } from '../apis/messages-api.ts'
import type { Stage } from '../stage.ts'
import { poll, type Story } from '../story.ts'
import { formatToolCall, openClaudeStage, spawnClaude, waitForOutcome } from './claude-stage.ts'

const CALL = formatToolCall('write_file', { path: 'vfs:///workspace/first.txt', content: 'one step\n' })

/** A process is killed while Claude Code waits for the rest of an answer. */
export const spawnCancel: Story = {
  name: 'spawn: cancelled in the middle',
  async run(signal) {
    await using api = await startMessagesApi((_request, index) =>
      index === 0 ? { text: CALL } : { hang: true },
    )
    await using stage = await openClaudeStage(api, { signal })
    const { pid, fork } = await spawnClaude(stage, 'never end')
    await poll(async () => api.requests[1], signal)
    assert.equal((await stage.findProcesses('claude')).length, 1)
    await stage.coppice('kill', String(pid))
    const outcome = await waitForOutcome(stage, pid)
    assert.notEqual(outcome.exit_code, 0)
    await waitForNoClaude(stage, signal)
    assert.equal(await stage.coppice('cat', '/first.txt', '--vault', fork), 'one step\n')
    assert.equal(api.requests.length, 2)
    assert.deepEqual(api.problems, [])
    return `'${outcome.reason}'; no claude process left, the first step stays in the fork`
  },
}

/** Claude Code takes longer than the time for one answer. */
export const spawnTimeLimit: Story = {
  name: 'spawn: time limit of an answer',
  async run(signal) {
    await using api = await startMessagesApi(() => ({ hang: true }))
    const processes = ['timeout_seconds = 3', 'retry_seconds = 0']
    await using stage = await openClaudeStage(api, { processes, signal })
    const { pid } = await spawnClaude(stage, 'take too long')
    const outcome = await waitForOutcome(stage, pid)
    assert.notEqual(outcome.exit_code, 0)
    assert.match(outcome.reason, /ETIMEDOUT: .* raise timeout_seconds/)
    await waitForNoClaude(stage, signal)
    assert.deepEqual(api.problems, [])
    return `'${outcome.reason}'; no claude process left`
  },
}

async function waitForNoClaude(stage: Stage, signal: AbortSignal): Promise<void> {
  await poll(async () => (await stage.findProcesses('claude')).length === 0 || undefined, signal)
}
