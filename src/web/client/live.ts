import { effect, untracked } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { WebEvent } from '../../web-api/index.ts'
import { connection } from './event-stream.ts'

type Listener = (events: readonly WebEvent[]) => void

const listeners = new Set<Listener>()
let waiting: WebEvent[] = []

/** Time in which events are gathered: hundreds in a second cost ten updates. */
const DELIVER_MS = 100
/** Time in which changes are gathered before a list is read again. */
const RELOAD_MS = 150

/** Gives an event to the screens, together with those that arrive shortly after it. */
export function publishEvent(event: WebEvent): void {
  waiting.push(event)
  if (waiting.length === 1) setTimeout(deliverEvents, DELIVER_MS)
}

/** Calls a function with the events that arrive while a component is shown. */
export function useEvents(listener: Listener): void {
  const latest = useRef(listener)
  latest.current = listener
  useEffect(() => {
    const forward: Listener = (events) => latest.current(events)
    listeners.add(forward)
    return () => void listeners.delete(forward)
  }, [])
}

/** Calls a function when an event arrives that concerns it, at most once in a while. */
export function useReload(isConcerned: (event: WebEvent) => boolean, reload: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents((events) => {
    if (timer.current !== undefined || !events.some((event) => event.type === 'reset' || isConcerned(event)))
      return
    timer.current = setTimeout(() => {
      timer.current = undefined
      reload()
    }, RELOAD_MS)
  })
}

/** Calls a function when a lost connection is there again: what was read meanwhile may have failed. */
export function useReconnect(run: () => void): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    let wasLost = false
    return effect(() => {
      const state = connection.value
      if (state === 'lost') wasLost = true
      if (state !== 'live' || !wasLost) return
      wasLost = false
      untracked(() => latest.current())
    })
  }, [])
}

function deliverEvents(): void {
  const events = waiting
  waiting = []
  for (const listener of listeners) listener(events)
}
