/** A file or directory as deepagents lists it; the path of a directory ends with a slash. */
export interface FileInfo {
  path: string
  is_dir: boolean
  size: number
  modified_at: string
}

/** A listing, or an error. */
export interface FilesResult {
  error?: string
  files?: FileInfo[]
}

/** A window of a text file, all of a binary one, or an error. */
export interface ReadResult {
  error?: string
  content?: string | Uint8Array
  mimeType?: string
  totalLines?: number
  /** Counted from 1. */
  startLine?: number
  endLine?: number
  /** Counted from 0; absent at the end of the file. */
  nextOffset?: number
}

/** A whole file as deepagents stores it. */
export interface RawFile {
  content: string | Uint8Array
  mimeType: string
  created_at: string
  modified_at: string
}

/** A whole file, or an error. */
export interface RawResult {
  error?: string
  data?: RawFile
}

/** A line that matches a search. */
export interface GrepMatch {
  path: string
  line: number
  text: string
}

/** Matches of a search, or an error. */
export interface GrepResult {
  error?: string
  matches?: GrepMatch[]
  truncated?: boolean
}

/** `filesUpdate` is null where the files are not part of the agent's state. */
export interface WriteResult {
  error?: string
  path?: string
  filesUpdate?: null
}

/** Result of an edit, with the number of replacements. */
export interface EditResult extends WriteResult {
  occurrences?: number
}

/** Result of a deletion. */
export interface DeleteResult extends WriteResult {}

/** Error of an upload or a download, by the names of deepagents. */
export type TransferError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path'

/** Result of one upload. */
export interface UploadResult {
  path: string
  error: TransferError | null
}

/** Result of one download: the content, or an error. */
export interface DownloadResult extends UploadResult {
  content: Uint8Array | null
}

/** The second version of the backend protocol of deepagents, as it is in 1.14. */
export interface DeepAgentsBackend {
  ls(path: string): Promise<FilesResult>
  read(path: string, offset?: number, limit?: number): Promise<ReadResult>
  readRaw(path: string): Promise<RawResult>
  write(path: string, content: string): Promise<WriteResult>
  edit(path: string, oldString: string, newString: string, replaceAll?: boolean): Promise<EditResult>
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<GrepResult>
  glob(pattern: string, path?: string): Promise<FilesResult>
  delete(path: string): Promise<DeleteResult>
  uploadFiles(files: Array<[string, Uint8Array]>): Promise<UploadResult[]>
  downloadFiles(paths: string[]): Promise<DownloadResult[]>
}
