import { assertFileSystem, type CallContext, type FileSystem } from '../../vfs/index.ts'
import { FileChanges } from './file-changes.ts'
import { Listings } from './listings.ts'
import type {
  DeepAgentsBackend,
  DeleteResult,
  DownloadResult,
  EditResult,
  FilesResult,
  GrepResult,
  RawResult,
  ReadResult,
  UploadResult,
  WriteResult,
} from './protocol.ts'
import { Reads } from './reads.ts'
import { Transfers } from './transfers.ts'

/** Options of `deepAgentsBackend`. */
export interface DeepAgentsOptions {
  /** Context of every call: the agent's identity. */
  readonly ctx?: CallContext
}

/** Creates a backend for `createDeepAgent({ backend })`; the file system's root is the agent's. */
export function deepAgentsBackend(fs: FileSystem, { ctx }: DeepAgentsOptions = {}): DeepAgentsBackend {
  assertFileSystem(fs, '/', 'deepagents')
  return new FilesBackend(fs, ctx)
}

class FilesBackend implements DeepAgentsBackend {
  readonly #listings: Listings
  readonly #reads: Reads
  readonly #changes: FileChanges
  readonly #transfers: Transfers

  constructor(fs: FileSystem, ctx: CallContext | undefined) {
    this.#listings = new Listings(fs, ctx)
    this.#reads = new Reads(fs, ctx)
    this.#changes = new FileChanges(fs, ctx)
    this.#transfers = new Transfers(fs, ctx)
  }

  ls(path: string): Promise<FilesResult> {
    return this.#listings.ls(path)
  }

  glob(pattern: string, path = '/'): Promise<FilesResult> {
    return this.#listings.glob(pattern, path)
  }

  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult> {
    return this.#listings.grep(pattern, path ?? '/', glob ?? null, maxCount ?? Number.POSITIVE_INFINITY)
  }

  read(path: string, offset = 0, limit = 500): Promise<ReadResult> {
    return this.#reads.read(path, offset, limit)
  }

  readRaw(path: string): Promise<RawResult> {
    return this.#reads.readRaw(path)
  }

  write(path: string, content: string): Promise<WriteResult> {
    return this.#changes.write(path, content)
  }

  edit(path: string, oldString: string, newString: string, replaceAll = false): Promise<EditResult> {
    return this.#changes.edit(path, oldString, newString, replaceAll)
  }

  delete(path: string): Promise<DeleteResult> {
    return this.#changes.delete(path)
  }

  uploadFiles(files: Array<[string, Uint8Array]>): Promise<UploadResult[]> {
    return this.#transfers.upload(files)
  }

  downloadFiles(paths: string[]): Promise<DownloadResult[]> {
    return this.#transfers.download(paths)
  }
}
