/** The signals that a process can receive. */
export const signals = ['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGPAUSE', 'SIGRESUME'] as const

/** Name of a signal. */
export type Signal = (typeof signals)[number]

/** Replaces the default action of a signal. */
export type SignalHandler = (signal: Signal) => void

/** Disposition of an arriving signal. */
export type Disposition = 'pending' | 'default' | SignalHandler
