import type { VfsErrorJson } from '../../vfs/index.ts'
import type { SharedCells, ThreadChannel } from '../threads/index.ts'

/** Start parameters of an interpreter's thread. */
export interface InterpreterSetup {
  readonly env: Readonly<Record<string, string>>
  /** Cells of its interrupts. */
  readonly interrupts: SharedCells
}

/** Requests to an interpreter, served in order. */
export type PythonRequest =
  | { readonly kind: 'mount'; readonly path: string; readonly channel: ThreadChannel; readonly umask: number }
  | { readonly kind: 'unmount'; readonly path: string }
  | { readonly kind: 'chdir'; readonly path: string }
  | { readonly kind: 'run'; readonly code: string }

/** An uncaught exception. */
export interface UncaughtException {
  /** Name of its class. */
  readonly type: string
  readonly traceback: string
}

/** Messages of an interpreter: output while it runs, and one outcome for each request. The first is of its start. */
export type PythonMessage =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly kind: 'done'; readonly value?: unknown }
  | { readonly kind: 'raised'; readonly exception: UncaughtException }
  | { readonly kind: 'failed'; readonly error: VfsErrorJson }
