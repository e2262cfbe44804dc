export const signals = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGPAUSE', 'SIGRESUME'] as const

export type Signal = (typeof signals)[number]

/** What a process does in place of the usual. */
export type SignalHandler = (signal: Signal) => void

/** What becomes of a signal that arrives now. */
export type Disposition = 'pending' | 'default' | SignalHandler
