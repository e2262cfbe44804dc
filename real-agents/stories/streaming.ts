import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { startMessagesApi } from '../apis/messages-api.ts'
import { poll, type Story } from '../story.ts'
import { openClaudeStage, spawnClaude, waitForOutcome } from './claude-stage.ts'

/** The text of a model reaches `coppice logs --follow` while Claude Code still answers. */
export const streaming: Story = {
  name: 'spawn: text streams',
  async run(signal) {
    const rest = Promise.withResolvers<void>()
    async function* pieces() {
      yield 'The first half,'
      await rest.promise
      yield ' and the second.'
    }
    await using api = await startMessagesApi(() => ({ pieces: pieces() }))
    await using stage = await openClaudeStage(api, { signal })
    const { pid } = await spawnClaude(stage, 'say two halves')
    const follower = stage.startCoppice('logs', String(pid), '--follow')
    let seen = ''
    follower.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      seen += chunk
    })
    const errors = follower.stderr === null ? Promise.resolve('') : text(follower.stderr)
    await poll(async () => seen.includes('The first half,') || undefined, signal)
    assert.ok(!seen.includes('second'), 'the second half is not sent yet')
    rest.resolve()
    assert.equal((await waitForOutcome(stage, pid)).result, 'The first half, and the second.')
    assert.equal(await errors, '')
    assert.match(seen, /The first half, and the second\./)
    assert.deepEqual(api.problems, [])
    return 'coppice logs --follow showed the first half before the second was sent'
  },
}
