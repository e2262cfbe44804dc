import { checkPath, type FileType, isVfsError } from '../../../vfs/index.ts'
import { createStreamError, STREAM_FORMAT } from './stream-format.ts'

/** What a stream says of itself first. */
export interface StreamHeader {
  readonly format: typeof STREAM_FORMAT
  readonly vault: string
  /** The checkpoint that was sent; absent for a vault as it was at that moment. */
  readonly checkpoint?: StreamCheckpoint
  /** The checkpoint this goes on from; absent for everything from an empty vault on. */
  readonly base?: { readonly name: string; readonly uid: string }
}

export interface StreamCheckpoint {
  readonly name: string
  readonly uid: string
  readonly description?: string
  readonly meta?: Readonly<Record<string, string>>
}

/** What a stream says of itself last. */
export interface StreamEnd {
  readonly operations: number
  readonly blobs: number
  readonly bytes: number
  /** SHA-256 of everything before this frame, in hex. */
  readonly sha256: string
}

type StreamTime = readonly [seconds: number, nanos: number]

/** A blob of the stream by its number, from 0 in the order they come; null is a hole. */
export type BlobNumber = number | null

/** One step from the base to what was sent. Paths are of the tree as the steps before have left it. */
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
  /** All of a file's content: bytes in base64, or chunks. */
  | { readonly op: 'write'; readonly path: string; readonly size: number; readonly inline: string }
  | {
      readonly op: 'write'
      readonly path: string
      readonly size: number
      readonly chunks: readonly BlobNumber[]
    }
  /** Some chunks of a file, and the size it has afterwards. */
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

/** The fields of each operation. A stream may come from anywhere: nothing of it is taken on trust. */
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

/** ENOTSUP for a format of a later version, EINVAL for what is no header. */
export function decodeHeader(payload: Buffer): StreamHeader {
  const value = parse(payload)
  if (isFields(value) && isCount(value['format']) && value['format'] !== STREAM_FORMAT) {
    const detail = `the stream has format ${value['format']}, this version knows ${STREAM_FORMAT}; update coppice`
    throw createStreamError('ENOTSUP', detail)
  }
  if (isHeader(value)) return value
  throw createStreamError('EINVAL', 'the header of the stream is not one')
}

export function decodeOperations(payload: Buffer): readonly StreamOperation[] {
  const value = parse(payload)
  if (Array.isArray(value) && value.every(isOperation)) return value
  throw createStreamError('EINVAL', 'the stream holds an operation this version does not know')
}

export function decodeEnd(payload: Buffer): StreamEnd {
  const value = parse(payload)
  if (isEnd(value)) return value
  throw createStreamError('EINVAL', 'the end of the stream is not one')
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
  const hasName = (one: unknown): one is Fields => isFields(one) && isText(one['name']) && isText(one['uid'])
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
  return typeof op === 'string' && isKnown(op) && operationShapes[op].some((shape) => hasShape(value, shape))
}

function isEnd(value: unknown): value is StreamEnd {
  return (
    isFields(value) &&
    [value['operations'], value['blobs'], value['bytes']].every(isCount) &&
    isText(value['sha256'])
  )
}

function isKnown(op: string): op is StreamOperation['op'] {
  return Object.hasOwn(operationShapes, op)
}

function hasShape(value: Fields, shape: Readonly<Record<string, Check>>): boolean {
  return Object.entries(shape).every(([field, check]) => check(value[field]))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
