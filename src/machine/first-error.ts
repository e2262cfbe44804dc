/** The error that came first, where another one followed while things were closed because of it. */
export function firstError(error: unknown): unknown {
  let first = error
  while (first instanceof Error && first.name === 'SuppressedError' && 'suppressed' in first)
    first = first.suppressed
  return first
}
