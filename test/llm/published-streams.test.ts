import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type DeviceContext, type DeviceFile, O_RDWR, sendDeviceRequest } from '../../src/kernel/index.ts'
import { MemoryFs } from '../../src/vfs/index.ts'
import { startProvider } from './provider-server.ts'
import type { Api } from './request-schemas.ts'

const ctx: DeviceContext = {
  pid: 1,
  caller: { kind: 'system' },
  fs: new MemoryFs(),
  signal: new AbortController().signal,
}

const user = { role: 'user', content: 'What is the weather in Paris?' }
const tools = [
  {
    name: 'get_weather',
    description: 'Returns the weather of a place.',
    input_schema: {
      type: 'object',
      properties: { location: { type: 'string', description: 'Name of a city' } },
      required: ['location'],
      additionalProperties: false,
    },
  },
  { name: 'get_time', description: 'Returns the time.', input_schema: { type: 'object', properties: {} } },
]
const request = { system_prompt: 'Be brief.', messages: [user], tools }

async function send(file: DeviceFile, messages: readonly object[] = [user]) {
  return JSON.parse(await sendDeviceRequest(file, { ...request, messages }))
}

type Calls = readonly (readonly [name: string, input: unknown])[]
type Answer = readonly [file: string, content: string, tokens: number, calls?: Calls]
type Failure = readonly [file: string, code: string, detail: RegExp, retryAfterMs?: number]

const three: Calls = [
  ['get_weather', { location: 'Paris' }],
  ['get_weather', { location: 'Rome' }],
  ['get_time', {}],
]
const paris: Calls = [['get_weather', { location: 'Paris' }]]
const sanFrancisco: Calls = [['get_weather', { location: 'San Francisco, CA' }]]

/** Responses that are an answer. Arguments that are not valid JSON stay as the model wrote them. */
const answers: Readonly<Record<Api, readonly Answer[]>> = {
  anthropic: [
    ['text', 'Hello!', 40],
    ['call', "Okay, let's check the weather:", 561, sanFrancisco],
    ['parallel-calls', '', 592, three],
    ['thinking', 'The greatest common divisor is **21**.', 85],
    ['thinking-call', 'I look.', 65, paris],
    ['redacted-thinking-call', 'I look.', 65, paris],
    ['redacted-thinking', 'Done.', 34],
    ['max-tokens', 'It was a dark and', 30],
    ['max-tokens-in-call', 'Let me look.', 89, [['get_weather', '{"location": "San']]],
    ['wrong-json', '', 55, [['get_weather', '{"location": "Paris"']]],
  ],
  openai: [
    ['text', 'Hello!', 29],
    ['call', '', 99, sanFrancisco],
    ['parallel-calls', '', 133, three],
    ['reasoning', '21', 157],
    ['max-tokens', 'It was a dark and', 24],
    ['max-tokens-in-call', '', 146, [['get_weather', '{"location": "San']]],
    ['wrong-json', '', 99, [['get_weather', '{"location": "Paris"']]],
    ['other-content-type', 'Hello', 21],
  ],
  google: [
    ['text', 'Hello!', 6],
    ['call', '', 135, paris],
    ['parallel-calls', '', 120, three],
    ['thinking', 'It is 21.', 38],
    ['max-tokens', 'It was a dark and', 9],
  ],
  ollama: [
    ['text', 'Hello!', 29],
    ['call', '', 190, paris],
    ['parallel-calls', '', 214, three],
    ['parallel-calls-of-one-index', '', 214, three.slice(0, 2)],
    ['thinking', 'Hello!', 40],
  ],
}

const brokeOff = /^the answer broke off/
const overloaded = /^the provider failed; try again later \(HTTP 5\d\d\): .*[Oo]verloaded/
const busy = /^too many requests, or the quota is used up; try again later \(HTTP 429\): \w/
const webPage =
  /^the provider answered with a web page \(text\/html; charset=utf-8\) in place of a stream; check the base URL: the request went to http:\/\/127\.0\.0\.1:\d+\/[\w/:-]+$/
const document =
  /^the provider answered with a document \(\w+\/.* in place of a stream; check the base URL: the request went to .*: [\w{[]/s
const malformed = /^the provider sent a malformed stream; check that the base URL is .*\.$/

/** Responses that are no answer. Only EUNAVAILABLE is asked again. */
const failures: Readonly<Record<Api, readonly Failure[]>> = {
  anthropic: [
    ['refusal', 'EIO', /^the model refused to answer \(refusal\): Sure, first you$/],
    [
      'refusal-explained',
      'EIO',
      /^the model refused to answer \(refusal\): This request was declined because it could enable cyber harm\.$/,
    ],
    ['refusal-unnamed', 'EIO', /^the model refused to answer \(refusal\): Hello\.\.$/],
    ['refusal-at-once', 'EIO', /^the model refused to answer \(refusal\)$/],
    ['empty-answer', 'EIO', /^the model gave no answer \(end_turn\)$/],
    ['cut-after-start', 'EUNAVAILABLE', brokeOff],
    ['cut-in-text', 'EUNAVAILABLE', brokeOff],
    ['cut-in-thinking', 'EUNAVAILABLE', brokeOff],
    ['cut-in-call', 'EUNAVAILABLE', brokeOff],
    ['garbled-in-text', 'EUNAVAILABLE', brokeOff],
    ['overloaded-in-text', 'EUNAVAILABLE', /^the answer broke off: Overloaded$/],
    ['overloaded-after-start', 'EUNAVAILABLE', overloaded],
    ['overloaded-at-once', 'EUNAVAILABLE', overloaded],
    ['http-529', 'EUNAVAILABLE', overloaded],
    ['http-500', 'EUNAVAILABLE', /^the provider failed; .*\(HTTP 500\): Internal server error$/],
    ['http-429', 'EUNAVAILABLE', busy, 17_000],
    ['web-page', 'EIO', webPage],
    ['not-json', 'EIO', malformed],
  ],
  openai: [
    [
      'refusal',
      'EIO',
      /^the model refused to answer \(refusal\): I'm sorry, I cannot assist with that request\.$/,
    ],
    ['content-filter', 'EIO', /^the model refused to answer \(content_filter\): First, you$/],
    ['empty-answer', 'EIO', /^the model gave no answer \(stop\)$/],
    ['cut-after-start', 'EUNAVAILABLE', brokeOff],
    ['cut-in-text', 'EUNAVAILABLE', brokeOff],
    ['cut-in-call', 'EUNAVAILABLE', brokeOff],
    ['garbled-in-text', 'EUNAVAILABLE', brokeOff],
    ['error-in-text', 'EUNAVAILABLE', /^the answer broke off: The server had an error/],
    ['error-at-once', 'EUNAVAILABLE', /^the provider failed; .*: The server had an error/],
    ['error-too-long', 'EINVAL', /^the request was refused .*: This model's maximum context length/],
    ['http-503', 'EUNAVAILABLE', overloaded],
    ['http-502-page', 'EUNAVAILABLE', /^the provider failed; try again later \(HTTP 502\): Bad Gateway$/],
    ['http-429', 'EUNAVAILABLE', busy, 1730],
    ['web-page', 'EIO', webPage],
    ['whole-document', 'EIO', document],
    ['plain-text', 'EIO', document],
    ['not-json', 'EIO', malformed],
    ['responses-api', 'EIO', malformed],
  ],
  google: [
    ['safety', 'EIO', /^the model refused to answer \(SAFETY\): First, you$/],
    ['blocked-prompt', 'EIO', /^the model refused to answer \(PROHIBITED_CONTENT\)$/],
    [
      'malformed-call',
      'EUNAVAILABLE',
      /^the answer broke off: the model ended with MALFORMED_FUNCTION_CALL$/,
    ],
    ['empty-answer', 'EIO', /^the model gave no answer \(STOP\)$/],
    ['cut-in-text', 'EUNAVAILABLE', brokeOff],
    ['cut-in-thinking', 'EUNAVAILABLE', brokeOff],
    ['garbled-in-text', 'EUNAVAILABLE', brokeOff],
    ['error-in-text', 'EUNAVAILABLE', /^the answer broke off: The model is overloaded/],
    ['error-at-once', 'EUNAVAILABLE', overloaded],
    ['http-503', 'EUNAVAILABLE', overloaded],
    ['http-429', 'EUNAVAILABLE', busy, 34_000],
    ['web-page', 'EIO', webPage],
    ['json-array', 'EIO', document],
    ['not-json', 'EIO', malformed],
  ],
  ollama: [
    ['cut-in-text', 'EUNAVAILABLE', brokeOff],
    ['cut-in-thinking', 'EUNAVAILABLE', brokeOff],
    ['http-404', 'ENOENT', /^there is no such model .*: model "llama9" not found, try pulling it first$/],
    ['http-503', 'EUNAVAILABLE', /^the provider failed; .*: server busy, please try again/],
    ['native-api', 'EIO', document],
  ],
}

const apis: readonly Api[] = ['anthropic', 'openai', 'google', 'ollama']

describe.each(apis)('the published responses of %s', (api) => {
  const answerCases = answers[api].map(([name, content, tokens, calls]) => ({ name, content, tokens, calls }))
  const failureCases = failures[api].map(([name, code, detail, delay]) => ({ name, code, detail, delay }))

  it('are all played here', () => {
    const files = readdirSync(join(import.meta.dirname, 'streams', api))
    const played = [...answerCases, ...failureCases].map(({ name }) => `${name}.http`)
    expect(files.toSorted()).toEqual(played.toSorted())
  })

  it.each(answerCases)('give the answer in $name', async ({ name, content, tokens, calls }) => {
    const { device, violations } = await startProvider(api, name)
    const answer = await send(await device.open('', O_RDWR, ctx))
    const tool_calls = calls?.map(([tool, input]) => ({ id: expect.any(String), name: tool, input }))
    expect(answer).toEqual({ content, tokens_used: tokens, ...(tool_calls && { tool_calls }) })
    expect(violations).toEqual([])
  })

  it.each(failureCases)('give the error in $name', async ({ name, code, detail, delay }) => {
    const { device, violations } = await startProvider(api, name)
    await expect(send(await device.open('', O_RDWR, ctx))).rejects.toMatchObject({
      code,
      detail: expect.stringMatching(detail),
      ...(delay !== undefined && { retryAfterMs: delay }),
    })
    expect(violations).toEqual([])
  })

  const withCalls = answerCases.filter(({ calls }) => calls !== undefined)
  it.each(withCalls)('are sent back with results as the API asks: $name', async ({ name }) => {
    // The second response repeats the ids of the first, as some servers do.
    const { device, violations, requests } = await startProvider(api, name, name, 'text')
    const file = await device.open('', O_RDWR, ctx)
    const messages: object[] = [user]
    for (let turn = 0; turn < 2; turn++) {
      const { content, tool_calls } = await send(file, messages)
      const ids: string[] = tool_calls.map(({ id }: { readonly id: string }) => id)
      messages.push({ role: 'assistant', content })
      messages.push(...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: `sunny ${turn}` })))
    }
    expect(await send(file, messages)).toMatchObject({ content: 'Hello!' })
    expect(violations).toEqual([])
    expect(JSON.stringify(requests[2])).toMatch(/sunny 0.*sunny 1/)
  })
})

describe('the thinking of anthropic', () => {
  it.each([
    ['thinking-call', { type: 'thinking', thinking: 'The weather tool knows.', signature: /^EqQB/ }],
    ['redacted-thinking-call', { type: 'redacted_thinking', data: /^EmwK/ }],
  ])('is sent back before the call: %s', async (name, block) => {
    const { device, violations, requests } = await startProvider('anthropic', name, 'text')
    const file = await device.open('', O_RDWR, ctx)
    const { content, tool_calls } = await send(file)
    const result = { role: 'tool', tool_call_id: tool_calls[0].id, content: 'sunny' }
    await send(file, [user, { role: 'assistant', content }, result])
    const signed = Object.entries(block).map(([key, value]) => [
      key,
      value instanceof RegExp ? expect.stringMatching(value) : value,
    ])
    expect(requests[1]).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [Object.fromEntries(signed), { type: 'text', text: 'I look.' }, { type: 'tool_use' }],
        },
        { role: 'user', content: [{ type: 'tool_result' }] },
      ],
    })
    expect(violations).toEqual([])
  })
})
