/** Calls with different results, and the reason. */
export interface Difference {
  readonly calls: readonly string[]
  readonly why: string
}

/** Differences from FilesystemBackend without ripgrep, which stores files outside of the agent's state as we do. */
export const fromFilesystem: readonly Difference[] = [
  {
    calls: ['read missing', 'edit missing'],
    why: 'it tells the error of the machine, with the path there; we say what StateBackend says',
  },
  { calls: ['readRaw missing'], why: 'it throws; we answer with an error, as StateBackend does' },
  { calls: ['write onto a directory'], why: 'it tells the path on the machine' },
  {
    calls: ['read a picture of a URL', 'ls after'],
    why: 'it takes all of a data: URL for base64; StateBackend does not',
  },
  { calls: ['grep'], why: 'it leaves the carriage return of a line that ends with one' },
  { calls: ['grep at most two'], why: 'asked for one file it searches all beside it, and so finds more' },
]

/** Differences from StateBackend, which has no directories and counts characters where we count bytes. */
export const fromState: readonly Difference[] = [
  {
    calls: ['ls /', 'ls after', 'glob names'],
    why: 'a size is in UTF-16 units there; an empty directory is none',
  },
  {
    calls: ['read past the end'],
    why: 'it gives nothing; we say how long the file is, as FilesystemBackend does',
  },
  {
    calls: ['read nothing', 'read blanks'],
    why: 'we remind the model of the empty file, as FilesystemBackend does',
  },
  { calls: ['write onto a directory', 'download a directory'], why: 'a directory is nothing there' },
  { calls: ['grep'], why: 'it leaves the carriage return of a line that ends with one' },
  { calls: ['glob from the root', 'glob from a root below'], why: 'a slash in front matches nothing there' },
  { calls: ['delete again'], why: 'it says File in front, FilesystemBackend does not' },
]
