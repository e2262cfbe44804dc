import { type CallContext, child, type FileSystem, isVfsError, updateText } from '../../vfs/index.ts'
import { isMissing, parseAgentPath, statFollowed } from './agent-path.ts'
import { getErrorMessage } from './error-message.ts'
import { getMimeType, isText } from './mime-type.ts'
import type { DeleteResult, EditResult, WriteResult } from './protocol.ts'
import { replaceText } from './replacement.ts'

/** Writing, editing and deleting. */
export class FileChanges {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async write(path: string, content: string): Promise<WriteResult> {
    try {
      const resolved = parseAgentPath(path)
      if (await this.#isLink(resolved)) {
        return { error: `Cannot write to ${path} because it is a symlink. Symlinks are not allowed.` }
      }
      const stored = isText(getMimeType(path)) ? content : decodeBase64(content)
      await this.#fs.write(resolved, stored, undefined, this.#ctx)
      return { path, filesUpdate: null }
    } catch (error) {
      return { error: `Error writing file '${path}': ${getErrorMessage(error)}` }
    }
  }

  async edit(path: string, oldString: string, newString: string, all: boolean): Promise<EditResult> {
    try {
      const resolved = parseAgentPath(path)
      if ((await statFollowed(this.#fs, resolved, this.#ctx))?.type !== 'file') {
        return { error: `Error: File '${path}' not found` }
      }
      let occurrences = 0
      const change = (text: string) => {
        const result = replaceText(text, oldString, newString, all)
        if ('error' in result) throw new EditError(result.error)
        occurrences = result.occurrences
        return result.text
      }
      await updateText(this.#fs, resolved, change, this.#ctx)
      return { path, filesUpdate: null, occurrences }
    } catch (error) {
      if (error instanceof EditError) return { error: error.message }
      return { error: `Error editing file '${path}': ${getErrorMessage(error)}` }
    }
  }

  /** Deletes a path; of the root, only its content. */
  async delete(path: string): Promise<DeleteResult> {
    try {
      const resolved = parseAgentPath(path)
      if (resolved === '/') await this.#empty()
      else await this.#fs.remove(resolved, { recursive: true }, this.#ctx)
      return { path, filesUpdate: null }
    } catch (error) {
      if (isMissing(error)) return { error: `Error: '${path}' not found` }
      return { error: `Error deleting '${path}': ${getErrorMessage(error)}` }
    }
  }

  async #empty(): Promise<void> {
    for (const { name } of await Array.fromAsync(this.#fs.readdir('/', this.#ctx))) {
      await this.#fs.remove(child('/', name), { recursive: true }, this.#ctx)
    }
  }

  async #isLink(resolved: string): Promise<boolean> {
    try {
      return (await this.#fs.stat(resolved, this.#ctx)).type === 'symlink'
    } catch (error) {
      if (isVfsError(error)) return false
      throw error
    }
  }
}

/** An edit that does not match its file. */
class EditError extends Error {
  override readonly name = 'EditError'
}

/** Decodes base64, with or without a `data:` prefix. */
function decodeBase64(content: string): Uint8Array {
  return Buffer.from(content.trim().replace(/^data:[^,]*,/, ''), 'base64')
}
