import { describe, expect, it } from 'vitest'
import { type DeviceContext, O_RDWR, sendDeviceRequest } from '../../../kernel/index.ts'
import { MemoryFs } from '../../../vfs/index.ts'
import { modelDevice } from './model-device.ts'

/** Sends one request to a model that answers in these pieces, and returns what its follower gets. */
async function follow(pieces: readonly string[]): Promise<string[]> {
  const device = modelDevice('/dev/llm/test', () => async (_request, _signal, onText) => {
    for (const piece of pieces) onText(piece)
    return { content: pieces.join(''), tokens_used: 1 }
  })
  const seen: string[] = []
  const ctx: DeviceContext = {
    pid: 1,
    caller: { kind: 'system' },
    fs: new MemoryFs(),
    signal: new AbortController().signal,
    onText: (text) => seen.push(text),
  }
  await sendDeviceRequest(await device.open('', O_RDWR, ctx), { intent: 'go' })
  return seen
}

describe('a follower of a model', () => {
  it('gets each piece of text, also one that contains JSON later on', async () => {
    expect(await follow(['Hel', 'lo ', '{"action":', ' [1]'])).toEqual(['Hel', 'lo ', '{"action":', ' [1]'])
  })

  it('gets white space before the text together with its first characters', async () => {
    expect(await follow(['', ' \n', '\n', 'Hello', ' '])).toEqual([' \n\nHello', ' '])
  })

  it.each([
    ['an object', ['{"action":', '"complete"}']],
    ['a list', ['[{"action"', ':"plan"}]']],
    ['a block of code', ['``', '`json\n{"action":"plan"}\n```']],
    ['an object after white space', ['\n', '  ', '{"action":', '"plan"}', ' and more']],
    ['white space alone', [' ', '\n']],
  ])('gets nothing of %s', async (_name, pieces) => {
    expect(await follow(pieces)).toEqual([])
  })
})
