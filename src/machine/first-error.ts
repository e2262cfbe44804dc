/** Returns the first error of a chain of SuppressedErrors, which `using` makes where a disposal fails, too. */
export function firstError(error: unknown): unknown {
  let first = error
  while (first instanceof Error && first.name === 'SuppressedError' && 'suppressed' in first)
    first = first.suppressed
  return first
}
