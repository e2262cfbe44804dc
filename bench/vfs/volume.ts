/**
 * A file system to compare in the `vfs` benchmark, behind the methods that all of them have.
 * Methods hand the subject's own promise through where they can: an adapter must not add a promise to what it measures.
 */
export interface Subject {
  /** Files of the works on small files, and of the tree that is walked and copied. */
  readonly textFiles: number
  readonly treeFiles: number
  /** Files of the warm-up: enough for V8 to compile the code, and at most a second's worth. */
  readonly warmUpFiles: number
  /** Duplicates made in one pass: many where a single one is too quick for the clock. */
  readonly duplicatesPerPass: number
  /** True if a duplicate is a fork, which shares content with the original, and not a copy. */
  readonly forks: boolean
  /** A new, empty volume. */
  open(): Promise<Volume>
  /** An empty volume with others mounted in it; absent where the subject has no mounts. */
  openMounts?(mountPoints: readonly string[]): Promise<MountedVolume>
}

/** Files of one subject, with the methods that every file system has. */
export interface FileVolume extends AsyncDisposable {
  /** Directory with which all paths of this volume begin. */
  readonly root: string
  /** Makes a directory and its parents. */
  mkdir(path: string): Promise<unknown>
  write(path: string, bytes: Uint8Array): Promise<unknown>
  read(path: string): Promise<Uint8Array | string>
  stat(path: string): Promise<{ readonly size: number | bigint }>
  /** Counts the entries of a directory from a listing of names and types. */
  countEntries(directory: string): Promise<number>
  /** Writes a file that arrives in chunks; its size is not known before. */
  writeChunks(path: string, chunks: Iterable<Uint8Array>): Promise<unknown>
  /** Reads a file in chunks and returns how many bytes came. */
  readChunks(path: string, chunkSize: number): Promise<number>
}

/** A volume of the `vfs` benchmark, which also works in bulk. */
export interface Volume extends FileVolume {
  /** Visits every file with its metadata. */
  walk(): Promise<Walked>
  /** Counts the lines of all files that match. */
  countMatches(pattern: RegExp, mode: GrepMode): Promise<number>
  /** Returns a volume with the same files, independent of this one. */
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

/** Counts the lines of a text that match, as a caller does where the file system has no search. */
export function countMatches(text: string, pattern: RegExp, mode: GrepMode): number {
  if (mode === 'file-first' && !pattern.test(text)) return 0
  let found = 0
  for (const line of text.split('\n')) if (pattern.test(line)) found++
  return found
}

/** Joins chunks, for a subject that takes a file only as a whole. */
export function joinChunks(chunks: Iterable<Uint8Array>): Uint8Array {
  return Buffer.concat([...chunks])
}
