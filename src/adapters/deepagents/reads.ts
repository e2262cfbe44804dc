import { type CallContext, type FileSystem, readFile, readText, type Stat } from '../../vfs/index.ts'
import { parseAgentPath, statFollowed } from './agent-path.ts'
import { getErrorMessage } from './error-message.ts'
import { getMimeType, isText } from './mime-type.ts'
import type { RawResult, ReadResult } from './protocol.ts'
import { readTextWindow, type TextWindow } from './text-window.ts'

/** Text for the model in place of an empty file. */
const EMPTY_FILE_TEXT = 'System reminder: File exists but has empty contents'

/** Reads of file content. */
export class Reads {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async read(path: string, offset: number, limit: number): Promise<ReadResult> {
    try {
      const resolved = parseAgentPath(path)
      if ((await this.#statFile(resolved)) === null) return { error: formatNotFound(path) }
      const mimeType = getMimeType(path)
      if (!isText(mimeType)) return { content: await this.#readBytes(resolved), mimeType }
      const [first, count] = [toLineCount(offset), toLineCount(limit)]
      const window = await readTextWindow(this.#fs.read(resolved, undefined, this.#ctx), first, count)
      return toReadResult(window, first, count, mimeType)
    } catch (error) {
      return { error: `Error reading file '${path}': ${getErrorMessage(error)}` }
    }
  }

  async readRaw(path: string): Promise<RawResult> {
    try {
      const resolved = parseAgentPath(path)
      const stat = await this.#statFile(resolved)
      if (stat === null) return { error: formatNotFound(path) }
      const mimeType = getMimeType(path)
      const content = isText(mimeType)
        ? await readText(this.#fs, resolved, undefined, this.#ctx)
        : await this.#readBytes(resolved)
      // Backends store no creation time.
      const time = stat.mtime.toISOString()
      return { data: { content, mimeType, created_at: time, modified_at: time } }
    } catch (error) {
      return { error: `Error reading file '${path}': ${getErrorMessage(error)}` }
    }
  }

  /** Returns the stat of a file; null for anything else, which a model cannot read either. */
  async #statFile(resolved: string): Promise<Stat | null> {
    const stat = await statFollowed(this.#fs, resolved, this.#ctx)
    return stat?.type === 'file' ? stat : null
  }

  async #readBytes(resolved: string): Promise<Uint8Array> {
    return new Uint8Array(await readFile(this.#fs, resolved, undefined, this.#ctx))
  }
}

function toReadResult(
  { text, totalLines, isBlank }: TextWindow,
  offset: number,
  limit: number,
  mimeType: string,
): ReadResult {
  if (isBlank) return { content: EMPTY_FILE_TEXT, mimeType }
  if (offset >= totalLines) {
    return { error: `Line offset ${offset} exceeds file length (${totalLines} lines)` }
  }
  if (limit === 0) return { content: text, mimeType }
  const endLine = Math.min(offset + limit, totalLines)
  const continuation = endLine < totalLines ? { nextOffset: endLine } : {}
  return { content: text, mimeType, totalLines, startLine: offset + 1, endLine, ...continuation }
}

/** Normalizes a model's line count as deepagents does. */
function toLineCount(given: number): number {
  return Number.isFinite(given) ? Math.max(0, Math.floor(given)) : 0
}

function formatNotFound(path: string): string {
  return `File '${path}' not found`
}
