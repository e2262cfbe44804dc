/** A value, or a promise of it. */
export type MaybeAsync<T> = T | Promise<T>

/**
 * An operation in steps, written once for synchronous and asynchronous callers: it yields where a value is
 * pending.
 */
export type Coroutine<T> = Generator<Promise<void>, T, void>

/** Waits for a value: `const stat = yield* waitFor(driver.lstat(path))`. */
export function* waitFor<T>(value: MaybeAsync<T>): Coroutine<T> {
  if (!(value instanceof Promise)) return value
  const held: { outcome: { readonly value: T } | undefined } = { outcome: undefined }
  yield value.then((value) => {
    held.outcome = { value }
  })
  if (held.outcome === undefined) throw new Error('the coroutine was resumed before its value arrived')
  return held.outcome.value
}

/** Runs a coroutine synchronously. Where it waits for a promise, a TypeError is thrown into it. */
export function runSync<T>(steps: Coroutine<T>): T {
  let step = steps.next()
  while (!step.done) {
    // Avoid an unhandled rejection beside the error below.
    step.value.catch(() => {})
    step = steps.throw(new TypeError('a synchronous call was given an asynchronous value'))
  }
  return step.value
}

/** Runs a coroutine up to its first wait, then asynchronously. Failures before the first wait throw. */
export function startCoroutine<T>(steps: Coroutine<T>): MaybeAsync<T> {
  const { done, value } = steps.next()
  return done ? value : runRest(steps, value)
}

async function runRest<T>(steps: Coroutine<T>, first: Promise<void>): Promise<T> {
  for (let pause = first; ; ) {
    const step = await pause.then(
      () => steps.next(),
      (error: unknown) => steps.throw(error),
    )
    if (step.done) return step.value
    pause = step.value
  }
}
