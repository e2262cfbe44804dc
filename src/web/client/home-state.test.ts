import { afterEach, expect, it, vi } from 'vitest'
import { EVENTS_PATH } from '../../web-api/index.ts'
import { loadError, startHome } from './home-state.ts'
import { session } from './session.ts'

afterEach(() => vi.unstubAllGlobals())

it('follows the events once, also after a start that failed', async () => {
  session.value = { state: 'open', token: 'token' }
  const streams: AbortSignal[] = []
  vi.stubGlobal('fetch', async (url: string, { signal }: { readonly signal?: AbortSignal }) => {
    if (url.startsWith(EVENTS_PATH) && signal !== undefined) {
      streams.push(signal)
      return new Response(new ReadableStream())
    }
    return url.endsWith('getStatus') ? Response.json({ position: '1' }) : new Response('', { status: 500 })
  })
  for (let start = 0; start < 2; start++) {
    await startHome()
    expect(loadError.value).toBeInstanceOf(Error)
  }
  expect(streams.map(({ aborted }) => aborted)).toEqual([true, false])
})
