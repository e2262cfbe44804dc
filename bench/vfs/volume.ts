/**
 * What a subject of the `vfs` benchmark does, in the words of the benchmark.
 * Methods hand the subject's own promise through where they can: an adapter must not add a promise to what it measures.
 */
export interface Subject {
  /** How many files the works on small files use, and the tree that is walked and copied. */
  readonly textFiles: number
  readonly treeFiles: number
  /** The files it warms up with: enough for the compiler, not more than a second's worth. */
  readonly warmUpFiles: number
  /** Duplicates made in one pass: many where a single one is too quick for the clock. */
  readonly duplicatesPerPass: number
  /** Whether a duplicate shares its content with the original (a fork), rather than being a copy. */
  readonly forks: boolean
  /** A new, empty volume. */
  open(): Promise<Volume>
  /** An empty volume with others mounted in it; absent where the subject has no mounts. */
  openMounts?(mountPoints: readonly string[]): Promise<MountedVolume>
}

/** Some files of one subject: what any place for files can do. */
export interface FileVolume extends AsyncDisposable {
  /** The directory all paths of this volume start with. */
  readonly root: string
  /** Makes a directory and its parents. */
  mkdir(path: string): Promise<unknown>
  write(path: string, bytes: Uint8Array): Promise<unknown>
  read(path: string): Promise<Uint8Array | string>
  stat(path: string): Promise<{ readonly size: number | bigint }>
  /** How many entries a directory has, names and types listed. */
  countEntries(directory: string): Promise<number>
  /** Writes a file that arrives in chunks, and may not be known as a whole. */
  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<unknown>
  /** Reads a file in chunks and returns how many bytes came. */
  readChunks(path: string, chunkSize: number): Promise<number>
}

/** A volume of the `vfs` benchmark, which also works in bulk. */
export interface Volume extends FileVolume {
  /** Visits every file with its metadata. */
  walk(): Promise<Walked>
  /** How many lines match in all files. */
  countMatches(pattern: RegExp, mode: GrepMode): Promise<number>
  /** The same files again, independent of these. */
  duplicate(): Promise<Volume>
}

export interface MountedVolume extends AsyncDisposable {
  write(path: string, bytes: Uint8Array): Promise<unknown>
  stat(path: string): Promise<{ readonly size: number | bigint }>
}

export interface Walked {
  readonly files: number
  readonly bytes: number
}

/** `file-first` tries the pattern on the whole text and splits only what matches. */
export type GrepMode = 'lines' | 'file-first'

/** How many lines of a text match: what a caller writes where the file system has no search. */
export function matchingLines(text: string, pattern: RegExp, mode: GrepMode): number {
  if (mode === 'file-first' && !pattern.test(text)) return 0
  let found = 0
  for (const line of text.split('\n')) if (pattern.test(line)) found++
  return found
}

/** Chunks joined, for those who can only take a file as a whole. */
export function joinChunks(chunks: Iterable<Uint8Array>): Uint8Array {
  return Buffer.concat([...chunks])
}
