import { accessSync, constants } from 'node:fs'
import { ConfigError } from '../../config/index.ts'
import { firstError } from '../../machine/index.ts'
import { escapeName, escapeText } from '../../text/index.ts'
import { dirname, type ErrorCode, errorCodes, isVfsError, type VfsError } from '../../vfs/index.ts'
import type { ExecutionDecision, ExecutionRefusal } from '../../workspace/index.ts'
import {
  findFailureCode,
  findHintTarget,
  formatHomeCommand,
  formatVaultCommand,
  type HintTarget,
} from './hint.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** Exit codes of commands. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  searchFailed: 2,
  conflict: 3,
  interrupted: 130,
} as const

const MISSING_DIRECTORY = 'the working directory was deleted; change to an existing one'

const CLOSED_DIRECTORY =
  'you may not read the working directory, or one around it; change to another, or ask its owner'

/** Part of the message of a store on a full disk. */
const STORE_FULL = 'the store could not commit'
const MAKE_ROOM = 'free space on the disk of the home, or remove files and run coppice gc --keep-history 0h'

/** A failure whose message names the next step. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Returns exit code and message of an error. Only this function turns errors into text. */
export function describeError(thrown: unknown): { readonly exitCode: number; readonly message: string } {
  const error = firstError(thrown)
  if (error instanceof UsageError) return { exitCode: exitCodes.usage, message: error.message }
  const exitCode = findFailureCode(thrown) ?? exitCodes.failed
  if (isVfsError(error)) {
    const isConflict = error.code === 'ECONFLICT'
    const message = formatVfsError(error, findHintTarget(thrown))
    return { exitCode: isConflict ? exitCodes.conflict : exitCode, message }
  }
  if (error instanceof CommandError || error instanceof ConfigError) {
    return { exitCode, message: error.message }
  }
  if (!(error instanceof Error)) return { exitCode, message: String(error) }
  if ('syscall' in error && error.syscall === 'uv_cwd') return { exitCode, message: MISSING_DIRECTORY }
  // A system error has a code and prints unchanged; any other error is a bug.
  if ('code' in error) {
    const isClosed = error.code === 'EACCES' && !canUseWorkingDirectory()
    return { exitCode, message: isClosed ? CLOSED_DIRECTORY : error.message }
  }
  const where = process.env['COPPICE_DEBUG'] ? `\n${error.stack}` : ' (COPPICE_DEBUG=1 shows where)'
  return { exitCode, message: `internal error: ${error.message}; please report it${where}` }
}

function canUseWorkingDirectory(): boolean {
  try {
    accessSync(process.cwd(), constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Formats a message for a terminal, with control characters escaped. */
export function formatErrorLine(message: string): string {
  return `coppice: ${escapeText(message).replaceAll('\r', '\\r')}\n`
}

/** Writes an error to standard error, as JSON for programs. */
export function writeError({ err }: Terminal, thrown: unknown, asJson: boolean): void {
  const text = () => formatErrorLine(describeError(thrown).message)
  err.write(asJson ? `${JSON.stringify(toErrorJson(thrown))}\n` : text())
}

/** Converts an error to JSON. */
export function toErrorJson(thrown: unknown): { readonly error: object } {
  const error = firstError(thrown)
  const { message } = describeError(thrown)
  const code = error instanceof UsageError ? 'EUSAGE' : getErrorCode(error)
  const path = isVfsError(error) ? error.path : null
  const conflicts = findConflicts(error)
  const problems = error instanceof ConfigError ? error.problems : undefined
  const details = {
    ...(conflicts !== undefined && { conflicts }),
    ...findRefusal(error),
    ...(problems !== undefined && { problems }),
  }
  return { error: { code, message, path, ...details } }
}

/** One side of a conflict; null where the path is missing there. */
type ConflictSide = { readonly type: string; readonly size: number } | null

export interface Conflict {
  readonly path: string
  readonly base: ConflictSide
  readonly ours: ConflictSide
  readonly theirs: ConflictSide
  /** Reason, for a changed directory of this machine. */
  readonly reason?: string
  /** True if one can choose a side of a conflict with a reason. */
  readonly isChoice?: true
}

/** Returns the conflicts of a refused merge or apply; undefined for any other error. */
export function findConflicts(error: unknown): Conflict[] | undefined {
  if (!isVfsError(error, 'ECONFLICT') || !('conflicts' in error) || !Array.isArray(error.conflicts)) {
    return undefined
  }
  const conflicts: readonly Conflict[] = error.conflicts
  const summarizeSide = (side: ConflictSide): ConflictSide => side && { type: side.type, size: side.size }
  return conflicts.map(({ path, base, ours, theirs, reason, isChoice }) => ({
    path,
    base: summarizeSide(base),
    ours: summarizeSide(ours),
    theirs: summarizeSide(theirs),
    ...(reason !== undefined && { reason }),
    ...(isChoice && { isChoice }),
  }))
}

/** Returns the decision of policy on a refused request, with the id for approving it if that is possible. */
function findRefusal(
  error: unknown,
): (Partial<ExecutionDecision> & { readonly approval?: string }) | undefined {
  if (!isVfsError(error, 'EACCES') || !isRefusal(error)) return undefined
  const { action, categories } = error.decision
  return { action, categories, ...(error.approval !== undefined && { approval: error.approval }) }
}

/**
 * Reports whether policy refused a request. Checks the form, since the class would load everything that runs commands.
 */
function isRefusal(error: VfsError): error is ExecutionRefusal {
  return 'decision' in error && typeof error.decision === 'object' && error.decision !== null
}

function getErrorCode(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError) return 'EINVAL'
  return error instanceof Error && 'code' in error ? String(error.code) : 'EINTERNAL'
}

function formatVfsError(error: VfsError, target: HintTarget): string {
  const { code, path, detail } = error
  if (detail === undefined) return `${escapeName(path)}: ${errorCodes[code]}${formatNextStep(error, target)}`
  const isNamed = path === '/' || path === '' || mentionsPath(detail, path)
  const named = isNamed ? detail : `${escapeName(path)}: ${detail}`
  if (code === 'ENOSPC' && detail.includes(STORE_FULL)) return `${named}; ${MAKE_ROOM}`
  // Most details name the next step. For the name of a vault or checkpoint, the list command is added.
  const [, what] = detail.match(/^there is (?:no|a) (vault|checkpoint) '[^;]*$/) ?? []
  if (what === 'checkpoint') return `${named}; see ${formatVaultCommand(target, what, 'list')}`
  if (what !== undefined) return `${named}; see ${formatHomeCommand(target, what, 'list')}`
  if (/^there is no process \d+$/.test(detail))
    return `${detail}; see ${formatHomeCommand(target, 'ps', '--all')}`
  return named.replace(/(?<=; see )\w+_list\b/, (operation) => {
    const words = listCommands[operation]
    return words === undefined ? operation : formatHomeCommand(target, ...words)
  })
}

/** Commands that do the same as operations of devices, which their errors name. */
const listCommands: Readonly<Record<string, readonly string[]>> = {
  task_list: ['tasks', 'list'],
  cron_list: ['cron', 'list'],
}

/** Reports whether a text has a path as a whole word. */
function mentionsPath(text: string, path: string): boolean {
  const parts = text.split(path)
  return parts.some((after, index) => {
    const before = parts[index - 1]
    return before !== undefined && /(?:^|[\s'"`(])$/.test(before) && /^(?:$|[\s'"`),.:;])/.test(after)
  })
}

function formatNextStep({ code, path, op }: VfsError, target: HintTarget): string {
  const next = (op === 'mkdir' ? mkdirHints[code] : undefined) ?? errorHints[code]?.(path, target)
  return next === undefined ? '' : `; ${next}`
}

const mkdirHints: Readonly<Partial<Record<ErrorCode, string>>> = {
  ENOENT: '-p also creates missing parents',
  EEXIST: '-p accepts an existing directory',
}

const errorHints: Readonly<Partial<Record<ErrorCode, (path: string, target: HintTarget) => string>>> = {
  ENOENT: (path, target) => `see ${formatVaultCommand(target, 'ls', dirname(path))}`,
  EEXIST: () => 'remove it first, or use --force if the command has it',
  EISDIR: (path, target) => {
    const remove = formatVaultCommand(target, 'rm', '-r', path)
    return `list it with ${formatVaultCommand(target, 'ls', path)}, remove it with ${remove}`
  },
  ENOTDIR: () => 'one of its parents is a file',
  ENOTEMPTY: () => 'remove its content first',
  EROFS: () => 'a checkpoint is read-only; leave out --at',
  ENOSPC: (_path, target) =>
    `see ${formatVaultCommand(target, 'quota', 'show')}, and ${formatHomeCommand(target, 'gc')}`,
  EIO: (_path, target) => `see ${formatHomeCommand(target, 'fsck')}`,
  EUNAVAILABLE: () => 'try again',
  EUNKNOWN: () => 'read it before you retry',
  ECONFLICT: () => 'read its current state and retry',
}
