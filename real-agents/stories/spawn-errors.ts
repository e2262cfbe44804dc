import assert from 'node:assert/strict'
import { type MessagesTurn, startMessagesApi } from '../apis/messages-api.ts'
import type { Story } from '../story.ts'
import { openClaudeStage, spawnClaude, waitForOutcome } from './claude-stage.ts'

const TURNS: readonly MessagesTurn[] = [{ status: 500 }, { status: 529 }, { text: 'At last.' }]

/** The API fails twice; Claude Code itself asks again. */
export const errorsInside: Story = {
  name: 'spawn: errors that claude repeats',
  async run(signal) {
    return `${await survive(signal, TURNS, {})} requests, answered after 500 and 529`
  },
}

/** The API fails, Claude Code gives up and the process asks it again. */
export const errorsOutside: Story = {
  name: 'spawn: errors that end claude',
  async run(signal) {
    const variables = { CLAUDE_CODE_MAX_RETRIES: '0' }
    return `${await survive(signal, TURNS, variables)} requests, one claude each; the process lived on`
  },
}

/** An answer breaks off in the middle; its beginning must not count as the answer. */
export const cutStream: Story = {
  name: 'spawn: an answer that breaks off',
  async run(signal) {
    const turns: readonly MessagesTurn[] = [{ cut: 'Half of' }, { text: 'At last.' }]
    return `${await survive(signal, turns, {})} requests, the half answer is gone`
  },
}

/** The API refuses the key: nothing to repeat. */
export const refusedKey: Story = {
  name: 'spawn: a refused key',
  async run(signal) {
    await using api = await startMessagesApi(() => ({ status: 401 }))
    await using stage = await openClaudeStage(api, { signal })
    const { pid } = await spawnClaude(stage, 'work without a key')
    const { exit_code, reason } = await waitForOutcome(stage, pid)
    assert.equal(exit_code, 1)
    assert.match(reason, /EACCES/)
    return `'${reason}'`
  },
}

/** Plays these turns, of which the last is the answer; returns the number of requests. */
async function survive(
  signal: AbortSignal,
  turns: readonly MessagesTurn[],
  variables: Readonly<Record<string, string>>,
): Promise<number> {
  await using api = await startMessagesApi((_request, index) => turns[index] ?? { text: 'too many' })
  await using stage = await openClaudeStage(api, { variables, signal })
  const { pid } = await spawnClaude(stage, 'be patient')
  const outcome = await waitForOutcome(stage, pid)
  assert.deepEqual([outcome.result, outcome.exit_code], ['At last.', 0], outcome.reason)
  assert.deepEqual(api.problems, [])
  return api.requests.length
}
