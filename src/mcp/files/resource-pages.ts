import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { compareListedFiles, type ListedFile } from './resource-listing.ts'

const PAGE_SIZE = 100

interface ResourceListPage {
  readonly items: readonly ListedFile[]
  readonly nextCursor?: string
}

/**
 * Returns a page of a list that may have changed: a cursor names the last file of the previous page, and the
 * page starts after its position. ProtocolError for an invalid cursor.
 */
export function getPage(files: readonly ListedFile[], cursor: string | undefined): ResourceListPage {
  const start = cursor === undefined ? 0 : findIndexAfter(files, decodeCursor(cursor))
  const items = files.slice(start, start + PAGE_SIZE)
  const last = items.at(-1)
  const isLastPage = start + PAGE_SIZE >= files.length
  return { items, ...(last !== undefined && !isLastPage && { nextCursor: encodeCursor(last) }) }
}

function findIndexAfter(files: readonly ListedFile[], last: ListedFile): number {
  const found = files.findIndex((file) => compareListedFiles(file, last) > 0)
  return found === -1 ? files.length : found
}

function encodeCursor({ root, path, type }: ListedFile): string {
  return Buffer.from(JSON.stringify([root, path, type])).toString('base64url')
}

function decodeCursor(cursor: string): ListedFile {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const [root, path, type] = Array.isArray(value) ? value : []
    if (typeof root === 'number' && typeof path === 'string' && (type === 'file' || type === 'directory')) {
      return { root, path, type }
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'the cursor is not one of ours; list again without one',
  )
}
