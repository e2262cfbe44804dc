import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { PAGE_PATHS } from '../../web-api/index.ts'

const PAGE_TYPE = '.html'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
}
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/** A file of the page. */
export interface PageFile {
  readonly type: string
  readonly bytes: Buffer
}

/**
 * Reads the files of the page, by the path of their address: `compare.html` is at `/compare`. A request is compared with
 * these names and nothing else: it never becomes a path of this machine. Empty if the page was not built.
 */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>()
  for (const name of listNames(directory)) {
    const type = TYPES[extname(name)]
    if (type === undefined || !FILE_NAME.test(name)) continue
    files.set(toAddress(name), { type, bytes: readFileSync(join(directory, name)) })
  }
  return files
}

function toAddress(name: string): string {
  if (extname(name) !== PAGE_TYPE) return `/${name}`
  return PAGE_PATHS.find((path) => `${path.slice(1) || 'index'}${PAGE_TYPE}` === name) ?? `/${name}`
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}
