import { type ErrorCode, isVfsError } from '../vfs/index.ts'
import type { CachedOutput } from './cache/index.ts'
import { truncateText } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'
import type { ToolImage } from './tool.ts'

/** Limit of an error message, however long the names in it are. */
const MAX_MESSAGE_CHARACTERS = 2000

/** Reason of a failed call. */
export interface ToolFailure {
  readonly code: ErrorCode
  /** Path in shown form: a URI, or a host path. */
  readonly path?: string
  readonly message: string
}

/** Result of a call: the text for the model, on success or failure. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
  readonly error?: ToolFailure
  /** Set if the text is a stub for this cached output. */
  readonly cached?: CachedOutput
  /** Set if the result shows an image, which the text describes. */
  readonly image?: ToolImage
}

export function createSuccess(text: string, cached?: CachedOutput): ToolResult {
  return { text, isError: false, ...(cached !== undefined && { cached }) }
}

/** Creates a failure on one line: it may repeat names and arguments of others. */
export function createFailure({ code, path, message: whole }: ToolFailure): ToolResult {
  const message = escapeUnprintable(truncateText(whole, MAX_MESSAGE_CHARACTERS))
  return { text: message, isError: true, error: { code, message, ...(path !== undefined && { path }) } }
}

/** Converts a thrown error; anything but a file-system error is reported as a bug. */
export function toFailure(error: unknown, tool: string): ToolResult {
  if (isVfsError(error)) return createFailure(error)
  const what = error instanceof Error ? error.message : typeof error
  return createFailure({
    code: 'EINTERNAL',
    message: `EINTERNAL: ${tool} failed unexpectedly: ${what}`,
  })
}
