import { type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { MAX_PAGE_ITEMS, type WebStep } from '../../../web-api/index.ts'
import { call } from '../../client/api.ts'
import { useEvents, useReconnect } from '../../client/live.ts'

const MAX_LOG_LINES = 200

/** The steps of a process and the latest lines of its log, as they arrive. */
export interface StepState {
  readonly steps: Signal<readonly WebStep[]>
  readonly log: Signal<readonly string[]>
  readonly error: Signal<Error | undefined>
  readonly isLoaded: Signal<boolean>
}

/** Reads the steps of a process, and those that follow. */
export function useSteps(pid: number): StepState {
  const loader = useMemo(() => new StepLoader(pid), [pid])
  useEffect(() => {
    loader.readNew()
    return () => loader.stop()
  }, [loader])
  useEvents((events) => {
    for (const event of events) {
      if (event.type === 'log' && event.pid === pid) loader.addLine(event.text)
      if (event.type === 'reset') loader.readNew()
      if (event.type === 'step' && event.pid === pid) loader.readNew()
      // The record of the last step may be complete only when the process has ended.
      if (event.type === 'process' && event.process.pid === pid && event.process.endedAt !== null)
        loader.readNew()
    }
  })
  useReconnect(() => loader.readNew())
  return loader
}

class StepLoader implements StepState {
  readonly steps: Signal<readonly WebStep[]> = signal([])
  readonly log: Signal<readonly string[]> = signal([])
  readonly error: Signal<Error | undefined> = signal(undefined)
  readonly isLoaded: Signal<boolean> = signal(false)
  readonly #pid: number
  readonly #stop = new AbortController()
  #isReading = false
  #isStale = false

  constructor(pid: number) {
    this.#pid = pid
  }

  stop(): void {
    this.#stop.abort()
  }

  addLine(text: string): void {
    this.log.value = [...this.log.value, ...text.split('\n')].slice(-MAX_LOG_LINES)
  }

  /** Reads the steps after the last one that is loaded. */
  readNew(): void {
    this.#isStale = true
    if (!this.#isReading) void this.#read()
  }

  async #read(): Promise<void> {
    this.#isReading = true
    try {
      while (this.#isStale && !this.#stop.signal.aborted) {
        this.#isStale = false
        await this.#readPages()
        this.error.value = undefined
        this.isLoaded.value = true
      }
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.error.value = error instanceof Error ? error : new Error(String(error))
    }
    this.#isReading = false
  }

  async #readPages(): Promise<void> {
    for (;;) {
      const last = this.steps.value.at(-1)?.step
      const params = {
        pid: this.#pid,
        limit: MAX_PAGE_ITEMS,
        ...(last !== undefined && { cursor: String(last) }),
      }
      const { items, next } = await call('listSteps', params, this.#stop.signal)
      if (items.length > 0) this.steps.value = [...this.steps.value, ...items]
      if (next === null || items.length === 0) return
    }
  }
}
