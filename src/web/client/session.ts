import { type Signal, signal } from '@preact/signals'
import { SESSION_PATH } from '../../web-api/index.ts'

/** The admission of this tab, and its token. */
export interface TabSession {
  readonly state: 'opening' | 'open' | 'missing' | 'refused' | 'ended'
  readonly token: string
}

/** The session of this tab. */
export const session: Signal<TabSession> = signal({ state: 'opening', token: '' })

const KEY = 'coppice-token'
/** The one-time code of an address: `/compare?to=…#CODE`. */
const CODE = /^#([A-Za-z0-9_-]{16,})$/

/** Trades the one-time code of the address for a token, or takes the token that this tab has. */
export async function openSession(): Promise<void> {
  const [, code] = CODE.exec(location.hash) ?? []
  if (code === undefined) {
    const token = sessionStorage.getItem(KEY)
    session.value = token === null ? { state: 'missing', token: '' } : { state: 'open', token }
    return
  }
  // The code must not stay in the address: a reload would try it again.
  history.replaceState(null, '', location.pathname + location.search)
  const token = await tradeCode(code)
  if (token === undefined) {
    session.value = { state: 'refused', token: '' }
    return
  }
  sessionStorage.setItem(KEY, token)
  session.value = { state: 'open', token }
}

/** Forgets a token that the server no longer accepts. */
export function endSession(): void {
  sessionStorage.removeItem(KEY)
  session.value = { state: 'ended', token: '' }
}

async function tradeCode(code: string): Promise<string | undefined> {
  try {
    const response = await fetch(SESSION_PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
      cache: 'no-store',
    })
    const body: unknown = response.ok ? await response.json() : undefined
    const isSession = typeof body === 'object' && body !== null && 'token' in body
    return isSession && typeof body.token === 'string' ? body.token : undefined
  } catch {
    return undefined
  }
}
