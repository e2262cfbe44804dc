/** A story with real programs. It throws if its result is not the expected one. */
export interface Story {
  readonly name: string
  /** Returns what it proved, in a few words. The signal aborts at the time limit. */
  run(signal: AbortSignal): Promise<string>
}

/** Waits until a check returns a value other than undefined. Throws when the signal aborts. */
export async function poll<T>(check: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const value = await check()
    if (value !== undefined) return value
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
