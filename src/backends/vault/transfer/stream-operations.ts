import { checkPath, type FileType, isVfsError } from '../../../vfs/index.ts'
import { createStreamError, STREAM_FORMAT } from './stream-format.ts'

/** The first frame of a stream. */
export interface StreamHeader {
  readonly format: typeof STREAM_FORMAT
  readonly vault: string
  /** The sent checkpoint; absent for the current state of a vault. */
  readonly checkpoint?: StreamCheckpoint
  /** The base of the changes; absent for a whole vault. */
  readonly base?: { readonly name: string; readonly uid: string }
}

export interface StreamCheckpoint {
  readonly name: string
  readonly uid: string
  readonly description?: string
  readonly meta?: Readonly<Record<string, string>>
}

/** The last frame of a stream. */
export interface StreamEnd {
  readonly operations: number
  readonly blobs: number
  readonly bytes: number
  /** SHA-256 of everything before this frame, in hex. */
  readonly sha256: string
}

type StreamTime = readonly [seconds: number, nanos: number]

/** The number of a blob in the stream, from 0; null is a hole. */
export type BlobNumber = number | null

/** One step from the base to the sent state. Paths refer to the tree after the steps before. */
export type StreamOperation =
  | {
      readonly op: 'make'
      readonly path: string
      readonly type: FileType
      readonly mode: number
      readonly uid: number
      readonly gid: number
      /** A link's target, or a device's number. */
      readonly text?: string
    }
  | { readonly op: 'link'; readonly path: string; readonly to: string }
  | { readonly op: 'move'; readonly path: string; readonly to: string }
  | { readonly op: 'remove'; readonly path: string }
  /** The whole content of a file: bytes in base64, or chunks. */
  | { readonly op: 'write'; readonly path: string; readonly size: number; readonly inline: string }
  | {
      readonly op: 'write'
      readonly path: string
      readonly size: number
      readonly chunks: readonly BlobNumber[]
    }
  /** Some chunks of a file, and its new size. */
  | {
      readonly op: 'patch'
      readonly path: string
      readonly size: number
      readonly chunks: readonly (readonly [index: number, blob: BlobNumber])[]
    }
  | {
      readonly op: 'attributes'
      readonly path: string
      readonly mode: number
      readonly uid: number
      readonly gid: number
      readonly mtime: StreamTime
    }
  | { readonly op: 'xattr'; readonly path: string; readonly name: string; readonly value: string | null }
  | {
      readonly op: 'tags'
      readonly path: string
      readonly add: readonly string[]
      readonly remove: readonly string[]
    }
  | { readonly op: 'meta'; readonly path: string; readonly values: Readonly<Record<string, string | null>> }

type Fields = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const FILE_TYPES: readonly unknown[] = ['file', 'directory', 'symlink', 'other']

const isText: Check = (value) => typeof value === 'string'
const isTexts: Check = (value) => isFields(value) && Object.values(value).every(isText)
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isBlob: Check = (value) => value === null || isCount(value)
const isOptional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const isNullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const isList =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
const isPair =
  (first: Check, second: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1])
const isPath: Check = (value) => {
  try {
    return typeof value === 'string' && checkPath(value) === value
  } catch (error) {
    if (isVfsError(error, 'EINVAL')) return false
    throw error
  }
}

const ownerShape = { mode: isCount, uid: isCount, gid: isCount }

/** The fields of each operation, all checked, because a stream may come from anywhere. */
const operationShapes: Readonly<Record<StreamOperation['op'], readonly Readonly<Record<string, Check>>[]>> = {
  make: [{ type: (value) => FILE_TYPES.includes(value), ...ownerShape, text: isOptional(isText) }],
  link: [{ to: isPath }],
  move: [{ to: isPath }],
  remove: [{}],
  write: [
    { size: isCount, inline: isText },
    { size: isCount, chunks: isList(isBlob) },
  ],
  patch: [{ size: isCount, chunks: isList(isPair(isCount, isBlob)) }],
  attributes: [{ ...ownerShape, mtime: isPair(Number.isSafeInteger, isCount) }],
  xattr: [{ name: isText, value: isNullable(isText) }],
  tags: [{ add: isList(isText), remove: isList(isText) }],
  meta: [{ values: (value) => isFields(value) && Object.values(value).every(isNullable(isText)) }],
}

export function encodeJson(value: StreamHeader | StreamEnd): Uint8Array {
  return Buffer.from(JSON.stringify(value))
}

/** Throws ENOTSUP for a later format, and EINVAL for an invalid header. */
export function decodeHeader(payload: Buffer): StreamHeader {
  const value = parse(payload)
  if (isFields(value) && isCount(value['format']) && value['format'] !== STREAM_FORMAT) {
    const detail = `the stream has format ${value['format']}, this version reads ${STREAM_FORMAT}; update coppice`
    throw createStreamError('ENOTSUP', detail)
  }
  if (isHeader(value)) return value
  throw createStreamError('EINVAL', 'the header of the stream is invalid')
}

export function decodeOperations(payload: Buffer): readonly StreamOperation[] {
  const value = parse(payload)
  if (Array.isArray(value) && value.every(isOperation)) return value
  throw createStreamError('EINVAL', 'the stream has an unknown operation; update coppice')
}

export function decodeEnd(payload: Buffer): StreamEnd {
  const value = parse(payload)
  if (isEnd(value)) return value
  throw createStreamError('EINVAL', 'the last frame of the stream is invalid')
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString())
  } catch (error) {
    throw error instanceof SyntaxError
      ? createStreamError('EINVAL', 'a frame of the stream is not JSON')
      : error
  }
}

function isHeader(value: unknown): value is StreamHeader {
  if (!isFields(value) || !isText(value['vault'])) return false
  const { base, checkpoint } = value
  const hasName = (value: unknown): value is Fields =>
    isFields(value) && isText(value['name']) && isText(value['uid'])
  const isBaseFine = base === undefined || hasName(base)
  return (
    isBaseFine &&
    (checkpoint === undefined ||
      (hasName(checkpoint) &&
        isOptional(isText)(checkpoint['description']) &&
        isOptional(isTexts)(checkpoint['meta'])))
  )
}

function isOperation(value: unknown): value is StreamOperation {
  if (!isFields(value) || !isPath(value['path'])) return false
  const { op } = value
  return (
    typeof op === 'string' &&
    isOperationName(op) &&
    operationShapes[op].some((shape) => hasShape(value, shape))
  )
}

function isEnd(value: unknown): value is StreamEnd {
  return (
    isFields(value) &&
    [value['operations'], value['blobs'], value['bytes']].every(isCount) &&
    isText(value['sha256'])
  )
}

function isOperationName(op: string): op is StreamOperation['op'] {
  return Object.hasOwn(operationShapes, op)
}

function hasShape(value: Fields, shape: Readonly<Record<string, Check>>): boolean {
  return Object.entries(shape).every(([field, check]) => check(value[field]))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
