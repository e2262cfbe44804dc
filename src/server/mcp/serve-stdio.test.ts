import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serveStdio } from './serve-stdio.ts'
import { McpSession } from './session.ts'
import { toolsPart } from './tools-part.ts'

const MIB = 1024 * 1024

/** A server whose tool says how much it was given, `hold` being one that ends only when it is cancelled. */
function served(signal: AbortSignal = new AbortController().signal): {
  input: PassThrough
  output: Promise<string>
  end: Promise<void>
} {
  const part = toolsPart(() => ({
    list: () => ['measure', 'hold'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    async call(name, args, request) {
      if (name === 'hold') await once(request.signal, 'abort')
      else await nextTurn()
      return { content: [{ type: 'text', text: `${JSON.stringify(args).length} characters` }] }
    },
  }))
  const session = new McpSession({ info: { name: 'test', version: '1' }, parts: [part] })
  const [input, out] = [new PassThrough(), new PassThrough()]
  const end = serveStdio(session, { in: input, out, signal }).finally(() => out.end())
  return { input, output: text(out), end }
}

function callOf(name: string, args: object): string {
  return line({ id: 1, method: 'tools/call', params: { name, arguments: args } })
}

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

describe('a server on a pair of streams', () => {
  it('answers what came before the end', async () => {
    const { input, output, end } = served()
    input.end(callOf('measure', { of: 'x' }))
    await end
    expect(await output).toContain('10 characters')
  })

  it('waits for no call that was cancelled', async () => {
    const { input, output, end } = served()
    input.write(callOf('hold', {}))
    input.end(line({ method: 'notifications/cancelled', params: { requestId: 1 } }))
    await end
    expect(await output).toBe('')
  })

  it('takes a message as large as a file that is written whole', async () => {
    const { input, output, end } = served()
    input.end(callOf('measure', { of: 'x'.repeat(15 * MIB) }))
    await end
    expect(await output).toContain(`${15 * MIB + 9} characters`)
  })

  it('says so if a message is larger than it can take', async () => {
    const { input, end } = served()
    input.end(callOf('measure', { of: 'x'.repeat(17 * MIB) }))
    await expect(end).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('maximum size'),
    })
  })

  it('stops when it is told to, calls under way included', async () => {
    const stop = new AbortController()
    const { input, end } = served(stop.signal)
    input.write(callOf('hold', {}))
    stop.abort()
    await end
  })

  it('survives whatever is sent to it, and answers the next request', async () => {
    const messages = fc.array(fc.oneof(fc.json(), fc.string(), requests()), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(messages, async (sent) => {
        const { input, output, end } = served()
        for (const message of sent) input.write(`${message.replaceAll('\n', ' ')}\n`)
        input.end(line({ id: 'last', method: 'ping' }))
        await end
        const answers = (await output).trimEnd().split('\n')
        expect(answers.map((answer) => JSON.parse(answer))).toContainEqual({
          jsonrpc: '2.0',
          id: 'last',
          result: {},
        })
      }),
      { numRuns: 200 },
    )
  })
})

/** Requests and notifications of the protocol, with anything in them. */
function requests(): fc.Arbitrary<string> {
  const methods = [
    'initialize',
    'tools/call',
    'tools/list',
    'logging/setLevel',
    'notifications/cancelled',
    'x/y',
  ]
  const message = fc.record(
    { id: fc.oneof(fc.nat(), fc.string()), method: fc.constantFrom(...methods), params: fc.jsonValue() },
    { requiredKeys: ['method'] },
  )
  return message.map((value) => JSON.stringify({ jsonrpc: '2.0', ...value }))
}
