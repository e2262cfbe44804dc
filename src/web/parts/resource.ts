import { type Signal, signal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useReconnect } from '../client/live.ts'

/** A value that the server has: absent while it loads, with the error if it could not be loaded. */
export interface Resource<T> {
  readonly value: Signal<T | undefined>
  readonly error: Signal<Error | undefined>
  /** Loads it again and keeps the old value meanwhile. Calls during a load lead to one more load. */
  readonly reload: () => void
}

/** A value that was asked for before it is shown. */
export interface EarlyValue<T> {
  /** Undefined while it is on its way. */
  readonly value: T | undefined
  readonly promise: Promise<T>
}

/**
 * Loads a value when the key changes. A response that arrives after the key changed is dropped.
 *
 * @param early takes the place of the first load.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  early?: EarlyValue<T>,
): Resource<T> {
  const latest = useRef(load)
  latest.current = load
  // The key is what the value depends on; `load` is another function at every render.
  const loader = useMemo(() => new Loader<T>((aborted) => latest.current(aborted), early), [key])
  // Not after the next frame, as effects are: the request is on its way while the browser paints.
  useLayoutEffect(() => {
    if (loader.value.peek() === undefined) loader.reload()
    return () => loader.stop()
  }, [loader])
  useReconnect(loader.reload)
  return loader
}

class Loader<T> implements Resource<T> {
  readonly value: Signal<T | undefined>
  readonly error: Signal<Error | undefined> = signal(undefined)
  readonly #load: (signal: AbortSignal) => Promise<T>
  readonly #stop = new AbortController()
  #isLoading = false
  #isStale = false
  #early: Promise<T> | undefined

  constructor(load: (signal: AbortSignal) => Promise<T>, early: EarlyValue<T> | undefined) {
    this.#load = load
    this.value = signal(early?.value)
    this.#early = early?.value === undefined ? early?.promise : undefined
  }

  reload = (): void => {
    this.#isStale = true
    if (!this.#isLoading) void this.#run()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #run(): Promise<void> {
    this.#isLoading = true
    while (this.#isStale && !this.#stop.signal.aborted) {
      this.#isStale = false
      await this.#loadOnce()
    }
    this.#isLoading = false
  }

  async #loadOnce(): Promise<void> {
    try {
      const early = this.#early
      this.#early = undefined
      // An early request that failed may have been too early.
      const value = await (early?.catch(() => this.#load(this.#stop.signal)) ?? this.#load(this.#stop.signal))
      if (this.#stop.signal.aborted) return
      this.value.value = value
      this.error.value = undefined
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.error.value = error instanceof Error ? error : new Error(String(error))
    }
  }
}
