/** A value from a local engine, or a promise from a remote one. */
export type MaybePromise<T> = T | Promise<T>

/** Continues with a value, synchronously if it is no promise. */
export function chain<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
