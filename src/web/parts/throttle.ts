import { useEffect, useRef, useState } from 'preact/hooks'

/** Returns a value that follows another at most once in some time. The last one always arrives. */
export function useThrottled<T>(value: T, intervalMs: number): T {
  const [shown, show] = useState(value)
  const last = useRef(0)
  useEffect(() => {
    const wait = last.current + intervalMs - performance.now()
    const update = () => {
      last.current = performance.now()
      show(value)
    }
    if (wait <= 0) {
      update()
      return undefined
    }
    const timer = setTimeout(update, wait)
    return () => clearTimeout(timer)
  }, [value, intervalMs])
  return shown
}
