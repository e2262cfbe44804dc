/** The author of a change. */
export interface WebAuthor {
  readonly kind: 'person' | 'process' | 'system' | 'unknown'
  /** The name under which somebody works; empty if it is not known. */
  readonly context: string
  /** The process; null for anybody else. */
  readonly pid: number | null
  /** The tool call or step that made the change, if it is known. */
  readonly trace: string | null
  /** The step of the process during which the change was made; null if it is not known. */
  readonly step: number | null
}

/** An entry of a directory. */
export interface WebEntry {
  readonly name: string
  readonly path: string
  readonly type: 'file' | 'directory' | 'symlink' | 'other'
  readonly size: number
  readonly mtime: string
  /** Target of a link. */
  readonly target?: string
}

/** A part of a file. */
export interface WebContent {
  readonly path: string
  readonly type: WebEntry['type']
  /** Size of the whole file in bytes. */
  readonly size: number
  readonly mtime: string
  /** True for content that is not text; `text` is then empty. */
  readonly isBinary: boolean
  /** The content from `offset` on, without secrets; it ends at the end of a line or of the file. */
  readonly text: string
  /** True if secrets were taken out of it. */
  readonly isRedacted: boolean
  readonly offset: number
  /** Offset in bytes of the next part; null at the end. */
  readonly next: number | null
  /** Version of the file, for `ifMatch`-like checks of the page; null if the tree has none. */
  readonly version: string | null
}

/** An image of a format that browsers show. */
export interface WebImage {
  readonly mimeType: string
  /** Its bytes in base64. */
  readonly data: string
}

/** A version of a file. */
export interface WebFileVersion {
  readonly version: string
  /** Journal row of the version: `~seq` is the tree of that moment. */
  readonly seq: number
  readonly time: string
  readonly size: number
  readonly op: string
  readonly author: WebAuthor
}

/** A line of a file with the change that wrote it. */
export interface WebBlameLine {
  readonly line: number
  readonly text: string
  readonly seq: number
  readonly time: string
  readonly author: WebAuthor
}

/** A line that matches a search. */
export interface WebMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

export interface WebMatches {
  readonly matches: readonly WebMatch[]
  /** True if there are more matches than the limit. */
  readonly isCut: boolean
}

/** A mutation of a vault or fork. */
export interface WebJournalRow {
  readonly seq: number
  readonly time: string
  readonly op: string
  readonly path: string
  /** Target of a rename. */
  readonly to?: string
  /** Number of paths that a merge or batch changed; 1 for anything else. */
  readonly paths: number
  readonly author: WebAuthor
}

export interface WebCheckpoint {
  readonly name: string
  readonly time: string
  readonly seq: number
  readonly description: string
}

/** Consecutive journal rows, counted. */
export interface JournalBucket {
  /** First and last row. */
  readonly from: number
  readonly to: number
  readonly fromTime: string
  readonly toTime: string
  readonly rows: number
  /** Rows by author, the most active first; at most eight authors. */
  readonly authors: readonly { readonly author: WebAuthor; readonly rows: number }[]
}

/** The journal of a tree at a level of detail, for a slider. */
export interface JournalBuckets {
  /** First and last row of the whole journal that can be shown; both 0 if it is empty. */
  readonly first: number
  readonly last: number
  readonly buckets: readonly JournalBucket[]
  /** All checkpoints, in the range or not: any of them can be gone to. */
  readonly checkpoints: readonly WebCheckpoint[]
}
