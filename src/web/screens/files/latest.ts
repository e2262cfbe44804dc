import { useRef } from 'preact/hooks'

/** Returns a value, or the last one that was there: while the slider moves, the old content stays until the new arrives. */
export function useLatest<T>(value: T | undefined): T | undefined {
  const last = useRef(value)
  if (value !== undefined) last.current = value
  return value ?? last.current
}
