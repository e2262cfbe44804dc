import { describe, expect, it } from 'vitest'
import type { ProcessStatus } from '../../src/agent-kernel/index.ts'
import { openScene } from '../support/agent-home.ts'
import { type ProviderServer, startProvider } from './provider-server.ts'
import type { Api } from './request-schemas.ts'

interface Played extends ProviderServer {
  readonly status: ProcessStatus
}

/** Runs an agent with all its tools against stored responses of an API. */
async function play(api: Api, ...names: readonly string[]): Promise<Played> {
  const provider = await startProvider(api, ...names)
  const { agents } = await openScene({}, undefined, {
    providers: { stored: provider.device },
    defaults: { provider: 'stored', retryMs: 60_000 },
  })
  const { pid } = await agents.spawn({ intent: 'look at the weather', vault: 'base' })
  return { ...provider, status: await agents.wait(pid) }
}

const apis: readonly Api[] = ['anthropic', 'openai', 'google', 'ollama']

describe.each(apis)('an agent with the API of %s', (api) => {
  it('sends its tools, calls and results as the API asks', async () => {
    const { status, violations, requests } = await play(api, 'call', 'parallel-calls', 'text')
    expect(violations).toEqual([])
    expect(status).toMatchObject({ exit_code: 0, result: 'Hello!' })
    expect(JSON.stringify(requests[0])).toContain('file_read')
    expect(JSON.stringify(requests[2])).toContain("there is no tool 'get_time'")
  })
})

describe('an agent', () => {
  it('asks again after the response broke off', async () => {
    const { status, requests } = await play('anthropic', 'cut-in-text', 'text')
    expect(status).toMatchObject({ exit_code: 0, result: 'Hello!' })
    expect(requests.length).toBe(2)
  })

  it.each(['anthropic', 'openai'] as const)('goes on after wrong JSON in a call of %s', async (api) => {
    const { status, violations, requests } = await play(api, 'wrong-json', 'text')
    expect(violations).toEqual([])
    expect(status).toMatchObject({ exit_code: 0, result: 'Hello!' })
    expect(JSON.stringify(requests[1])).toContain("the input of 'get_weather' is not a valid JSON object")
  })

  it.each([
    ['anthropic', 'web-page', 'a web page (text/html; charset=utf-8)'],
    ['openai', 'web-page', 'a web page (text/html; charset=utf-8)'],
    ['google', 'web-page', 'a web page (text/html; charset=utf-8)'],
    ['openai', 'responses-api', 'the provider sent a malformed stream'],
    ['anthropic', 'refusal', 'the model refused to answer (refusal)'],
    ['openai', 'refusal', 'the model refused to answer (refusal)'],
  ] as const)('ends at once with the reason if %s sends %s', async (api, name, reason) => {
    const { status, requests } = await play(api, name)
    expect(status).toMatchObject({ exit_code: 1, reason: expect.stringContaining(reason) })
    expect(requests.length).toBe(1)
  })
})
