import type { VfsErrorJson } from '../../vfs/index.ts'
import type { SharedCells, ThreadChannel } from '../threads/index.ts'

/** What the thread of an interpreter is started with. */
export interface InterpreterSetup {
  readonly env: Readonly<Record<string, string>>
  /** Where its interrupts come from. */
  readonly interrupts: SharedCells
}

/** What an interpreter can be asked, one thing after another. */
export type PythonRequest =
  | { readonly kind: 'mount'; readonly path: string; readonly line: ThreadChannel; readonly umask: number }
  | { readonly kind: 'unmount'; readonly path: string }
  | { readonly kind: 'chdir'; readonly path: string }
  | { readonly kind: 'run'; readonly code: string }

/** An exception that nobody caught. */
export interface UncaughtException {
  /** The name of its class. */
  readonly type: string
  readonly traceback: string
}

/** What an interpreter tells: output while it runs, and one outcome for each request. The first is of its start. */
export type PythonMessage =
  | { readonly kind: 'output'; readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly kind: 'done'; readonly value?: unknown }
  | { readonly kind: 'raised'; readonly exception: UncaughtException }
  | { readonly kind: 'failed'; readonly error: VfsErrorJson }
