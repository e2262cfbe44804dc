import { ancestors, type ErrorCode, isWithin, VfsError } from '../vfs/index.ts'

/** A file of the model. Its names and open handles share this object. */
export interface ModelFile {
  content: string
}

/** A model of hard links: the file of every path in one plain map, null for a directory. */
export class InodeModel {
  readonly #names = new Map<string, ModelFile | null>([['/', null]])

  write(path: string, content: string): void {
    this.open(path, true).content = content
  }

  append(path: string, content: string): void {
    this.open(path, true).content += content
  }

  open(path: string, create: boolean): ModelFile {
    const found = this.#names.get(path)
    if (found === null) fail('EISDIR', path)
    if (found !== undefined) return found
    if (!create) fail('ENOENT', path)
    this.#makeParents(path)
    const file = { content: '' }
    this.#names.set(path, file)
    return file
  }

  link(existing: string, path: string): void {
    const found = this.#names.get(existing)
    if (found === undefined) fail('ENOENT', existing)
    if (found === null) fail('EISDIR', existing)
    if (this.#names.has(path)) fail('EEXIST', path)
    const parent = this.#names.get(getParent(path))
    if (parent === undefined) fail('ENOENT', path)
    if (parent !== null) fail('ENOTDIR', path)
    this.#names.set(path, found)
  }

  rename(from: string, to: string, overwrite: boolean): void {
    const found = this.#names.get(from)
    if (found === undefined) fail('ENOENT', from)
    if (from === to) return
    if (isWithin(to, from)) fail('EINVAL', from)
    const replaced = this.#names.get(to)
    if (replaced !== undefined) this.#assertReplaceable(found, replaced, to, overwrite)
    if (replaced === found && found !== null) return
    this.#makeParents(to)
    for (const path of this.#listWithin(from)) {
      this.#names.set(to + path.slice(from.length), this.#names.get(path) ?? null)
      this.#names.delete(path)
    }
  }

  remove(path: string, recursive: boolean): void {
    const found = this.#names.get(path)
    if (found === undefined) fail('ENOENT', path)
    if (found === null && !recursive) fail('EISDIR', path)
    for (const descendant of this.#listWithin(path)) this.#names.delete(descendant)
  }

  readEntry(path: string): unknown {
    const found = this.#names.get(path)
    if (found === undefined) return fail('ENOENT', path)
    if (found === null) return { type: 'directory', names: this.#listNames(path) }
    return { type: 'file', content: found.content, nlink: this.nlink(found) }
  }

  nlink(file: ModelFile): number {
    return [...this.#names.values()].filter((other) => other === file).length
  }

  /** Returns the content of every file by path. */
  contents(): Record<string, string> {
    const files = [...this.#names].flatMap(([path, file]) => (file === null ? [] : [[path, file.content]]))
    return Object.fromEntries(files.sort(([one = ''], [other = '']) => (one < other ? -1 : 1)))
  }

  #assertReplaceable(
    found: ModelFile | null,
    replaced: ModelFile | null,
    path: string,
    overwrite: boolean,
  ): void {
    if (!overwrite) fail('EEXIST', path)
    if (replaced !== null && found === null) fail('ENOTDIR', path)
    if (replaced === null && found !== null) fail('EISDIR', path)
    if (replaced === null && this.#listWithin(path).length > 1) fail('ENOTEMPTY', path)
  }

  #makeParents(path: string): void {
    for (const above of ancestors(path)) if (this.#names.get(above)) fail('ENOTDIR', path)
    for (const above of ancestors(path)) this.#names.set(above, null)
  }

  #listWithin(path: string): string[] {
    return [...this.#names.keys()].filter((other) => isWithin(other, path))
  }

  #listNames(directory: string): string[] {
    const descendants = this.#listWithin(directory).filter(
      (path) => getParent(path) === directory && path !== directory,
    )
    return descendants.map((path) => path.slice(path.lastIndexOf('/') + 1)).sort()
  }
}

function getParent(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

function fail(code: ErrorCode, path: string): never {
  throw new VfsError(code, path)
}
