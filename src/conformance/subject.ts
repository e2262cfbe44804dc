import type { Capability, FileSystem } from '../vfs/index.ts'

/** The initial files of a test, by path. */
export type Seed = Readonly<Record<string, string | Uint8Array>>

/** A file system to test against the contract. */
export interface Subject {
  readonly name: string
  /**
   * Creates a fresh file system with exactly the seed's files. A writable one may ignore the seed: the suite then
   * writes it.
   */
  readonly create: (seed: Seed) => FileSystem | Promise<FileSystem>
  /** Releases what `create` made, after each test. */
  readonly dispose?: (fs: FileSystem) => void | Promise<void>
  /** Tests that are known to fail, by name, each with its reason. The suite fails if one of them passes. */
  readonly expectedFailures?: Readonly<Record<string, string>>
  /** Number of random inputs for each property; 50 when absent. */
  readonly runs?: number
}

/** The part of a test runner that the suite needs; Vitest and node:test fit unchanged. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown
  readonly it: (name: string, body: (context: TestContext) => Promise<void>) => unknown
}

/** The part of a running test that the suite uses. */
export interface TestContext {
  skip?: (reason?: string) => unknown
}

/** One test of the suite: a rule of the contract. */
export interface Case {
  readonly name: string
  /** Capabilities without which the case is skipped. */
  readonly needs?: readonly Capability[]
  /** Capabilities with which the case is skipped. */
  readonly without?: readonly Capability[]
  /** Initial content of the file system; `standardSeed` when absent. */
  readonly seed?: Seed
  readonly run: (fs: FileSystem, subject: Subject) => Promise<void>
}

/** Spreads consecutive numbers over 32 bits: 2^32 divided by the golden ratio. */
const SPREAD = 2_654_435_761

/** 200,000 bytes in which chunks of equal size differ, so a missing, repeated or swapped one is detected. */
export const largeContent: Uint8Array = Uint8Array.from(
  { length: 200_000 },
  (_, index) => Math.imul(index, SPREAD) >>> 24,
)

/** Umlauts, ideographs, an emoji and CRLF, which a careless chunk border would break. */
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
