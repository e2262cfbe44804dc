import type { Capability, FileSystem } from '../vfs/index.ts'

/** Files by path, as a subject is asked to hold them at the start of a test. */
export type Seed = Readonly<Record<string, string | Uint8Array>>

/** A file system to hold against the contract. */
export interface Subject {
  readonly name: string
  /**
   * Makes a fresh file system that holds the seed's files and nothing else.
   * A writable one may ignore the seed: the suite then writes it.
   */
  readonly create: (seed: Seed) => FileSystem | Promise<FileSystem>
  /** Releases what `create` made, after each test. */
  readonly dispose?: (fs: FileSystem) => void | Promise<void>
  /** Tests that are known to fail, by name, each with its reason. One that passes after all fails the suite. */
  readonly expectedFailures?: Readonly<Record<string, string>>
  /** Number of random cases for each property. 50 when absent. */
  readonly runs?: number
}

/** The part of a test runner the suite needs; Vitest's and node:test's fit as they are. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: (context: TestContext) => Promise<void>) => unknown
}

export interface TestContext {
  skip?: (reason?: string) => unknown
}

/** One rule of the contract. */
export interface Case {
  readonly name: string
  /** Capabilities without which the rule does not apply. */
  readonly needs?: readonly Capability[]
  /** Capabilities with which it does not apply. */
  readonly without?: readonly Capability[]
  /** Initial content of the file system; `standardSeed` when absent. */
  readonly seed?: Seed
  readonly run: (fs: FileSystem, subject: Subject) => Promise<void>
}

/** 200,000 bytes that differ wherever a chunk might go missing or come twice. */
export const largeContent: Uint8Array = Uint8Array.from(
  { length: 200_000 },
  (_, at) => (at * 31 + (at >> 8)) & 0xff,
)

/** Umlauts, ideographs, an emoji and CRLF: whatever a careless chunk border would break. */
export const unicodeContent = 'grüße, 日本語 🎉\r\nzweite Zeile\r\n'

export const standardSeed: Seed = {
  '/lines.txt': 'one\ntwo\nthree\nfour\n',
  '/empty.txt': '',
  '/unicode.txt': unicodeContent,
  '/large.bin': largeContent,
  '/docs/guide.md': '# Guide\nstart here\n',
  '/docs/deep/a.txt': 'alpha\n',
  '/docs/deep/b.txt': 'beta\n',
  '/docsx/twin.txt': 'not in docs\n',
}
