import {
  type CallContext,
  dirname,
  type FileSystem,
  isVfsError,
  isWithin,
  move,
  updateText,
} from '../../vfs/index.ts'
import { createMissingError, createMissingFileError, isMissing, MemoryError } from './memory-error.ts'
import { MEMORIES, type MemoryTarget } from './memory-target.ts'
import { insertLines, replaceOnce } from './text-edit.ts'

const FILE_MODE = 0o600

/** Commands that change files; each returns the text for the model. An edit is applied to the current text. */
export class MemoryChanges {
  readonly #fs: FileSystem
  readonly #ctx: CallContext

  constructor(fs: FileSystem, ctx: CallContext) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async create({ path, displayPath }: MemoryTarget, text: string): Promise<string> {
    try {
      await this.#fs.write(path, text, { ifMatch: null, mode: FILE_MODE }, this.#ctx)
    } catch (error) {
      const isTaken =
        isVfsError(error, 'ECONFLICT') || isVfsError(error, 'EEXIST') || isVfsError(error, 'EISDIR')
      throw isTaken ? new MemoryError(`File ${displayPath} already exists`) : error
    }
    return `File created successfully at: ${displayPath}`
  }

  async replace(target: MemoryTarget, old: string, replacement: string): Promise<string> {
    let snippet = ''
    await this.#edit(target, (text) => {
      const edit = replaceOnce(text, old, replacement, target.displayPath)
      snippet = edit.snippet
      return edit.text
    })
    return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet}`
  }

  async insert(target: MemoryTarget, line: number, added: string): Promise<string> {
    await this.#edit(target, (text) => insertLines(text, line, added))
    return `The file ${target.displayPath} has been edited.`
  }

  async delete({ path, displayPath, isRoot }: MemoryTarget): Promise<string> {
    if (isRoot) throw new MemoryError(`Cannot delete the ${MEMORIES} directory itself`)
    try {
      await this.#fs.remove(path, { recursive: true }, this.#ctx)
    } catch (error) {
      throw isMissing(error) ? createMissingError(displayPath) : error
    }
    return `Successfully deleted ${displayPath}`
  }

  async rename(from: MemoryTarget, to: MemoryTarget): Promise<string> {
    if (from.isRoot) throw new MemoryError(`Cannot rename the ${MEMORIES} directory itself`)
    if (from.path !== to.path && isWithin(to.path, from.path))
      throw new MemoryError(`Cannot rename ${from.displayPath} to ${to.displayPath}, which lies inside it`)
    // Check first, so that no parent directory is created for a missing source.
    if (!(await this.#fs.exists(from.path, this.#ctx))) throw createMissingError(from.displayPath)
    try {
      await this.#fs.mkdir(dirname(to.path), { parents: true }, this.#ctx)
      await move(this.#fs, from.path, to.path, { across: true }, this.#ctx)
    } catch (error) {
      if (isVfsError(error, 'EEXIST')) throw createExistsError(to)
      throw isVfsError(error, 'ENOENT') ? createMissingError(from.displayPath) : error
    }
    return `Successfully renamed ${from.displayPath} to ${to.displayPath}`
  }

  async #edit({ path, displayPath }: MemoryTarget, change: (text: string) => string): Promise<void> {
    try {
      await updateText(this.#fs, path, change, this.#ctx)
    } catch (error) {
      if (isMissing(error)) throw createMissingFileError(displayPath)
      throw isVfsError(error, 'EISDIR') ? new MemoryError(`The path ${displayPath} is not a file.`) : error
    }
  }
}

function createExistsError({ displayPath }: MemoryTarget): MemoryError {
  return new MemoryError(`The destination ${displayPath} already exists`)
}
