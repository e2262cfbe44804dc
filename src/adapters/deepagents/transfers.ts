import { type CallContext, type ErrorCode, type FileSystem, isVfsError, readFile } from '../../vfs/index.ts'
import { parseAgentPath } from './agent-path.ts'
import type { DownloadResult, TransferError, UploadResult } from './protocol.ts'

const transferErrors: Partial<Readonly<Record<ErrorCode, TransferError>>> = {
  ENOENT: 'file_not_found',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EROFS: 'permission_denied',
  EISDIR: 'is_directory',
}

/** Batch uploads and downloads; each file has its own outcome. */
export class Transfers {
  readonly #fs: FileSystem
  readonly #ctx: CallContext | undefined

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#fs = fs
    this.#ctx = ctx
  }

  async upload(files: ReadonlyArray<readonly [string, Uint8Array]>): Promise<UploadResult[]> {
    const results: UploadResult[] = []
    for (const [path, content] of files) {
      try {
        await this.#fs.write(parseAgentPath(path), content, undefined, this.#ctx)
        results.push({ path, error: null })
      } catch (error) {
        results.push({ path, error: toTransferError(error) })
      }
    }
    return results
  }

  async download(paths: readonly string[]): Promise<DownloadResult[]> {
    const results: DownloadResult[] = []
    for (const path of paths) {
      try {
        const content = await readFile(this.#fs, parseAgentPath(path), undefined, this.#ctx)
        results.push({ path, content: new Uint8Array(content), error: null })
      } catch (error) {
        results.push({ path, content: null, error: toTransferError(error) })
      }
    }
    return results
  }
}

function toTransferError(error: unknown): TransferError {
  return (isVfsError(error) ? transferErrors[error.code] : undefined) ?? 'invalid_path'
}
