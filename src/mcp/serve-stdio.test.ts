import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { McpSession } from './mcp-session.ts'
import { serveStdio } from './serve-stdio.ts'
import { createToolsFeature } from './tools-feature.ts'

const MIB = 1024 * 1024

interface Served {
  readonly input: PassThrough
  readonly out: PassThrough
  /** Names of the called tools. */
  readonly calls: string[]
  readonly end: Promise<void>
}

/**
 * Serves tools that return the size of their input; `hold` ends only when cancelled, `shout` returns much, and `ask`
 * asks its client.
 */
function serving(signal: AbortSignal = new AbortController().signal): Served {
  const calls: string[] = []
  const part = createToolsFeature(() => ({
    list: () =>
      ['measure', 'hold', 'shout', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    async call(name, args, request) {
      calls.push(name)
      if (name === 'hold') await once(request.signal, 'abort')
      else if (name === 'ask') await request.extra.mcpReq.send({ method: 'ping' })
      else await nextTurn()
      if (name === 'shout') return { content: [{ type: 'text', text: 'x'.repeat(MIB) }] }
      return { content: [{ type: 'text', text: `${JSON.stringify(args).length} characters` }] }
    },
  }))
  const open = () => new McpSession({ info: { name: 'test', version: '1' }, parts: [part] })
  const [input, out] = [new PassThrough(), new PassThrough()]
  const end = serveStdio(open, { in: input, out, signal }).finally(() => out.end())
  return { input, out, calls, end }
}

/** As `serving`, and collects all output. */
function served(signal?: AbortSignal): Pick<Served, 'input' | 'end'> & { output: Promise<string> } {
  const { input, out, end } = serving(signal)
  return { input, output: text(out), end }
}

function answersIn(output: string): unknown[] {
  return output
    .trimEnd()
    .split('\n')
    .map((answer) => JSON.parse(answer))
}

function refused(id: number | string | undefined, code: number, message: RegExp): object {
  const error = { code, message: expect.stringMatching(message) }
  return { jsonrpc: '2.0', ...(id !== undefined && { id }), error }
}

/** Waits as many turns as any immediate work takes. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 200; turn++) await nextTurn()
}

function callOf(name: string, args: object, id = 1): string {
  return line({ id, method: 'tools/call', params: { name, arguments: args } })
}

function line(message: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
}

describe('a server on a pair of streams', () => {
  it('answers all requests before the end of input', async () => {
    const { input, output, end } = served()
    input.end(callOf('measure', { of: 'x' }))
    await end
    expect(await output).toContain('10 characters')
  })

  it('does not wait for a cancelled call', async () => {
    const { input, output, end } = served()
    input.write(callOf('hold', {}))
    input.end(line({ method: 'notifications/cancelled', params: { requestId: 1 } }))
    await end
    expect(await output).toBe('')
  })

  it('accepts a message as large as a whole file', async () => {
    const { input, output, end } = served()
    input.end(callOf('measure', { of: 'x'.repeat(15 * MIB) }))
    await end
    expect(await output).toContain(`${15 * MIB + 9} characters`)
  })

  it.each([
    ['in front', (text: string) => callOf('measure', { of: text }, 7)],
    ['at the end', (text: string) => `{"method":"ping","params":{"of":"${text}"},"jsonrpc":"2.0","id":7}\n`],
  ])('refuses a message beyond the limit, with its id %s, and continues', async (_where, message) => {
    const { input, output, end } = served()
    input.write(message('x'.repeat(17 * MIB)))
    input.end(line({ id: 8, method: 'ping' }))
    await end
    const answers = answersIn(await output)
    expect(answers).toContainEqual(refused(7, -32600, /16 MiB/))
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 8, result: {} })
  })

  it('does not mistake a nested id for that of the message', async () => {
    const { input, output, end } = served()
    input.end(`{"params":{"of":"${'x'.repeat(17 * MIB)}","id":7}}\n`)
    await end
    expect(answersIn(await output)).toEqual([refused(undefined, -32600, /16 MiB/)])
  })

  it.each(['007', String.raw`"\x"`, '"\t"'])(
    'survives a message beyond the limit with the id %j',
    async (id) => {
      const { input, output, end } = served()
      input.write(`{"id":${id},"of":"${'x'.repeat(17 * MIB)}"}\n`)
      input.end(line({ id: 8, method: 'ping' }))
      await end
      expect(answersIn(await output)).toEqual([
        refused(undefined, -32600, /16 MiB/),
        { jsonrpc: '2.0', id: 8, result: {} },
      ])
    },
  )

  it.each([
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', refused(1, -32600, /jsonrpc/)],
    ['no version', '{"id":"a","method":"ping"}', refused('a', -32600, /jsonrpc/)],
    ['a method that is no name', '{"jsonrpc":"2.0","id":1,"method":5}', refused(1, -32600, /method/)],
    ['no method', '{"jsonrpc":"2.0","id":1}', refused(1, -32600, /method/)],
    ['a member too many', '{"jsonrpc":"2.0","id":1,"method":"ping","x":1}', refused(1, -32600, /"x"/)],
    [
      'a list of params',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
      refused(1, -32602, /params/),
    ],
    [
      'a wrong token of progress',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":{}}}}',
      refused(1, -32602, /progressToken/),
    ],
    ['an id that is none', '{"jsonrpc":"2.0","id":null,"method":"ping"}', refused(undefined, -32600, /id/)],
    ['an empty batch', '[]', refused(undefined, -32600, /one by one/)],
    ['a text', '"ping"', refused(undefined, -32600, /object/)],
    ['what is no JSON', 'Content-Length: 20', refused(undefined, -32700, /JSON/)],
    ['a request that breaks off', '{"jsonrpc":"2.0","id":1,"method":"pi', refused(1, -32700, /JSON/)],
    [
      'a request with a comma too many',
      '{"method":"ping","params":{},,"jsonrpc":"2.0","id":"a"}',
      refused('a', -32700, /JSON/),
    ],
    ['an answer that breaks off', '{"jsonrpc":"2.0","id":1,"result":{', refused(undefined, -32700, /JSON/)],
    [
      'params of another shape',
      callOf('measure', {}).replace('"measure"', '5'),
      refused(1, -32602, /^params.name: /),
    ],
    [
      'arguments of another shape',
      callOf('measure', {}).replace('{}', '5'),
      refused(1, -32602, /^params.arguments: /),
    ],
  ])('reports the problem of %s', async (_what, sent, answer) => {
    const { input, output, end } = served()
    input.end(`${sent.trim()}\n`)
    await end
    expect(answersIn(await output)).toEqual([answer])
  })

  it('refuses every request of a batch', async () => {
    const { input, output, end } = served()
    input.end(`[${[1, 'b'].map((id) => line({ id, method: 'ping' })).join(',')}]`.replaceAll('\n', ''))
    await end
    expect(answersIn(await output)).toEqual([1, 'b'].map((id) => refused(id, -32600, /one by one/)))
  })

  it('refuses no response in a batch, since its id is that of a server request', async () => {
    const { input, output, end } = served()
    const batch = [line({ id: 1, result: {} }), line({ id: 2, method: 'ping' })]
    input.end(`[${batch.join(',')}]`.replaceAll('\n', ''))
    await end
    expect(answersIn(await output)).toEqual([refused(2, -32600, /one by one/)])
  })

  it.each([
    ['an answer', '{"jsonrpc":"2.0","id":1,"result":5}'],
    ['an error', '{"jsonrpc":"2.0","id":1,"error":"no"}'],
    ['a notice', '{"jsonrpc":"1.0","method":"notifications/initialized"}'],
    ['an empty line', '\r'],
  ])('does not answer %s, however malformed', async (_what, sent) => {
    const { input, output, end } = served()
    input.end(`${sent}\n`)
    await end
    expect(await output).toBe('')
  })

  it.each([
    ['malformed', 7, 'malformed'],
    ['too large', { of: 'x'.repeat(17 * MIB) }, '16 MiB'],
  ])('fails the request for a response that is %s, and does not answer it', async (_what, result, why) => {
    const { input, out, end } = serving()
    input.write(callOf('ask', {}))
    const [question] = await once(out, 'data')
    const { id, method } = JSON.parse(String(question))
    expect(method).toBe('ping')
    input.end(line({ id, result }))
    expect(answersIn(await text(out))).toEqual([
      { jsonrpc: '2.0', id: 1, error: expect.objectContaining({ message: expect.stringContaining(why) }) },
    ])
    await end
  })

  it('answers the last request although its line has no end', async () => {
    const { input, output, end } = served()
    input.end(line({ id: 1, method: 'ping' }).trimEnd())
    await end
    expect(answersIn(await output)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
  })

  it('stops reading from a client that sends invalid messages and does not read the errors', async () => {
    const { input, out, end } = serving()
    for (let piece = 0; piece < 40; piece++) input.write('x\n'.repeat(500))
    await idle()
    expect(input.isPaused()).toBe(true)
    expect(input.readableLength + input.writableLength).toBeGreaterThan(10_000)
    input.end()
    expect(answersIn(await text(out)).length).toBe(20_000)
    await end
  })

  it('stops on abort, including running calls', async () => {
    const stop = new AbortController()
    const { input, end } = served(stop.signal)
    input.write(callOf('hold', {}))
    stop.abort()
    await end
  })

  it('starts only a few calls for a client that does not read responses', async () => {
    const { input, out, calls, end } = serving()
    const ids = Array.from({ length: 100 }, (_, id) => id)
    input.end(ids.map((id) => callOf('shout', {}, id)).join(''))
    await idle()
    expect(calls.length).toBeGreaterThan(0)
    expect(calls.length).toBeLessThan(20)
    expect(out.listenerCount('drain')).toBe(1)
    const answers = (await text(out)).trimEnd().split('\n')
    await end
    expect(answers.map((answer) => Number(JSON.parse(answer).id))).toEqual(ids)
  })

  it('stops reading from a client whose queue is full', async () => {
    const { input, out, end } = serving()
    const pieces = Array.from({ length: 40 }, (_, id) => callOf('shout', { of: 'x'.repeat(MIB) }, id))
    for (const piece of pieces) input.write(piece)
    await idle()
    expect(input.isPaused()).toBe(true)
    expect(input.readableLength + input.writableLength).toBeGreaterThan(MIB)
    input.end()
    expect((await text(out)).trimEnd().split('\n').length).toBe(pieces.length)
    await end
  })

  it('handles cancellations while other calls wait, also of waiting calls', async () => {
    const { input, out, calls, end } = serving()
    const ids = Array.from({ length: 30 }, (_, id) => id)
    for (const id of ids) input.write(callOf('hold', {}, id))
    input.write(line({ id: 'alive', method: 'ping' }))
    const [answer] = await once(out, 'data')
    expect(JSON.parse(String(answer))).toMatchObject({ id: 'alive', result: {} })
    const begun = calls.length
    expect(begun).toBeLessThan(30)
    // From the last one on, so that no waiting call ever starts.
    for (const id of ids.toReversed()) {
      input.write(line({ method: 'notifications/cancelled', params: { requestId: id } }))
    }
    input.end(callOf('measure', {}, 99))
    expect(await text(out)).toContain('"id":99')
    await end
    expect(calls.slice(begun)).toEqual(['measure'])
  })

  it('ends at once when its client closes the output, even if it is idle', async () => {
    const { input, out, end } = serving()
    input.write(callOf('hold', {}))
    await idle()
    out.destroy()
    await end
  })

  it('ends when its client disconnects silently', async () => {
    const { input, end } = serving()
    input.destroy()
    await end
  })

  it('survives any input, and answers the next request', async () => {
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

/** Generates requests and notifications of the protocol with any content. */
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
