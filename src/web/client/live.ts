import { effect, untracked } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { WebEvent } from '../../web-api/index.ts'
import { connection } from './event-stream.ts'

type Listener = (events: readonly WebEvent[]) => void

const listeners = new Set<Listener>()
let queuedEvents: WebEvent[] = []
let deliveredAt = Number.NEGATIVE_INFINITY

/** Time between two deliveries: hundreds of events in a second cost ten updates, and a single one does not wait. */
const DELIVER_MS = 100
/** Time between two reads of a list. */
const RELOAD_MS = 100

/** Gives an event to the screens at once, or with others if the last ones have just arrived. */
export function publishEvent(event: WebEvent): void {
  queuedEvents.push(event)
  if (queuedEvents.length === 1) setTimeout(deliverEvents, deliveredAt + DELIVER_MS - performance.now())
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

/** Calls a function soon after an event that concerns it or a reset, at most once in `RELOAD_MS`. */
export function useReload(concerns: (event: WebEvent) => boolean, reload: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const reloadedAt = useRef(Number.NEGATIVE_INFINITY)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents((events) => {
    if (timer.current !== undefined || !events.some((event) => event.type === 'reset' || concerns(event)))
      return
    timer.current = setTimeout(
      () => {
        timer.current = undefined
        reloadedAt.current = performance.now()
        reload()
      },
      reloadedAt.current + RELOAD_MS - performance.now(),
    )
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
  const events = queuedEvents
  queuedEvents = []
  deliveredAt = performance.now()
  for (const listener of listeners) listener(events)
}
