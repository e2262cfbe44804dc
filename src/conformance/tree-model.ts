import { type ErrorCode, isVfsError, VfsError } from '../vfs/index.ts'

/** One operation of a random sequence. */
export interface ModelAction {
  readonly op: 'write' | 'mkdir' | 'remove' | 'read' | 'stat' | 'readdir' | 'exists' | 'walk'
  readonly path: string
  readonly content: string
  /** `parents` of write and mkdir, `recursive` of remove. */
  readonly flag: boolean
}

/** Result of an action: a plain value, or its error code. */
export type ModelOutcome = { readonly ok: unknown } | { readonly error: ErrorCode }

/** Runs an action and returns its value or error code. Throws an error that is no VfsError. */
export async function captureOutcome(action: () => unknown): Promise<ModelOutcome> {
  try {
    return { ok: (await action()) ?? null }
  } catch (error) {
    if (isVfsError(error)) return { error: error.code }
    throw error
  }
}

/** A model of the contract: the content of every path in one plain map, null for a directory. */
export class TreeModel {
  readonly #entries = new Map<string, string | null>([['/', null]])

  perform({ op, path, content, flag }: ModelAction): unknown {
    switch (op) {
      case 'write':
        return this.#write(path, content, flag)
      case 'mkdir':
        return this.#mkdir(path, flag)
      case 'remove':
        return this.#remove(path, flag)
      case 'read':
        return this.#read(path)
      case 'stat':
        return this.#getType(path)
      case 'readdir':
        return this.#readdir(path)
      case 'exists':
        return this.#entries.has(path)
      case 'walk':
        return this.#entries.get(path) === null ? this.#listBelow(path) : []
    }
  }

  #write(path: string, content: string, parents: boolean): void {
    if (this.#entries.get(path) === null) fail('EISDIR', path)
    this.#makeParents(path, parents)
    this.#entries.set(path, content)
  }

  #mkdir(path: string, parents: boolean): void {
    if (this.#entries.get(path) === null && parents) return
    if (this.#entries.has(path)) fail('EEXIST', path)
    this.#makeParents(path, parents)
    this.#entries.set(path, null)
  }

  #remove(path: string, recursive: boolean): void {
    if (path === '/') fail('EINVAL', path)
    if (this.#getType(path) === 'directory' && !recursive) fail('EISDIR', path)
    for (const entry of [path, ...this.#listBelow(path)]) this.#entries.delete(entry)
  }

  #read(path: string): string {
    const content = this.#entries.get(path)
    if (content === undefined) return fail('ENOENT', path)
    return content ?? fail('EISDIR', path)
  }

  #readdir(path: string): string[] {
    if (this.#getType(path) === 'file') fail('ENOTDIR', path)
    const prefix = path === '/' ? '/' : `${path}/`
    const names = this.#listBelow(path).map((entry) => entry.slice(prefix.length))
    return names.filter((name) => !name.includes('/'))
  }

  #getType(path: string): 'file' | 'directory' {
    const content = this.#entries.get(path)
    if (content === undefined) fail('ENOENT', path)
    return content === null ? 'directory' : 'file'
  }

  #makeParents(path: string, parents: boolean): void {
    const missing: string[] = []
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      const above = path.slice(0, end)
      if (typeof this.#entries.get(above) === 'string') fail('ENOTDIR', path)
      if (!this.#entries.has(above)) missing.push(above)
    }
    if (missing.length > 0 && !parents) fail('ENOENT', path)
    for (const above of missing) this.#entries.set(above, null)
  }

  #listBelow(path: string): string[] {
    const prefix = path === '/' ? '/' : `${path}/`
    return [...this.#entries.keys()].filter((entry) => entry !== '/' && entry.startsWith(prefix)).sort()
  }
}

function fail(code: ErrorCode, path: string): never {
  throw new VfsError(code, path)
}
