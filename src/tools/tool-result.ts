import { type ErrorCode, isVfsError } from '../vfs/index.ts'
import type { CachedOutput } from './cache/index.ts'
import { truncateText } from './text/character-cut.ts'
import { escapeUnprintable } from './text/escape-unprintable.ts'

/** What went wrong is told in less than this, however long the names in it are. */
const MAX_MESSAGE_CHARACTERS = 2000

/** Why a call failed. */
export interface ToolFailure {
  readonly code: ErrorCode
  /** As the model knows it: a URI, or a path of this machine. */
  readonly path?: string
  readonly message: string
}

/** What a call gives: what the model shall read, be it the result or what went wrong. */
export interface ToolResult {
  readonly text: string
  readonly isError: boolean
  readonly error?: ToolFailure
  /** Set if the text is a stub, and all of the output is there. */
  readonly cached?: CachedOutput
}

export function createSuccess(text: string, cached?: CachedOutput): ToolResult {
  return { text, isError: false, ...(cached !== undefined && { cached }) }
}

/** A failure on one line: it may repeat names and arguments of others. */
export function createFailure({ code, path, message: whole }: ToolFailure): ToolResult {
  const message = escapeUnprintable(truncateText(whole, MAX_MESSAGE_CHARACTERS))
  return { text: message, isError: true, error: { code, message, ...(path !== undefined && { path }) } }
}

/** Whatever a tool threw: what is not an error of the file system is a bug, and told as one. */
export function toFailure(error: unknown, tool: string): ToolResult {
  if (isVfsError(error)) return createFailure(error)
  const what = error instanceof Error ? error.message : typeof error
  return createFailure({
    code: 'EINTERNAL',
    message: `EINTERNAL: ${tool} failed in a way it should not: ${what}`,
  })
}
