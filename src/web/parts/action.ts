import { useState } from 'preact/hooks'

/** Something that the server does at a click: whether it runs, and the error of the last run. */
export interface Action {
  readonly isRunning: boolean
  readonly error: Error | undefined
  readonly run: () => void
}

/** Runs a function at most once at a time and keeps its error for the page. */
export function useAction<T>(act: () => Promise<T>, onDone: (result: T) => void = () => {}): Action {
  const [state, setState] = useState<{ isRunning: boolean; error?: Error }>({ isRunning: false })
  const run = async () => {
    if (state.isRunning) return
    setState({ isRunning: true })
    try {
      const result = await act()
      setState({ isRunning: false })
      onDone(result)
    } catch (error) {
      setState({ isRunning: false, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return { isRunning: state.isRunning, error: state.error, run: () => void run() }
}
