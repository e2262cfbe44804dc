import { cpuUsage } from 'node:process'
import type { RE2JS } from 're2js'
import type { LinePattern } from '../../vfs/index.ts'

/** Limit of one match: program size times characters, some tens of milliseconds at worst. */
const MAX_STEPS = 500_000
/** CPU limit of a single line. Not wall-clock time, so that results do not depend on the machine's load. */
const MAX_LINE_CPU_MS = 100
/** Matches anchors, which would match at every piece; in brackets `^` means something else. */
const ANCHOR = /(?<!\[)\^|\$|\\[Az]/

/**
 * A pattern with bounded time per line. A long line is searched in pieces that
 * overlap by half, up to a limit; with a pattern that has anchors, not at all.
 */
export class BoundedPattern implements LinePattern {
  readonly source: string
  readonly flags: string
  readonly stepsPerCharacter: number
  readonly #compiled: RE2JS
  readonly #isAnchored: boolean
  readonly #pieceLength: number
  #unfinished = 0

  constructor(compiled: RE2JS, source: string, flags: string) {
    const size = compiled.programSize()
    this.source = source
    this.flags = flags
    this.stepsPerCharacter = size
    this.#compiled = compiled
    this.#isAnchored = ANCHOR.test(source)
    // Half a piece fits every match of a program without repetitions.
    this.#pieceLength = Math.max(Math.floor(MAX_STEPS / size), 2 * size)
  }

  /** Number of lines that were not searched to their end. */
  get unfinished(): number {
    return this.#unfinished
  }

  test(line: string): boolean {
    if (line.length <= this.#pieceLength) return this.#compiled.test(line)
    const isFound = this.#isAnchored ? undefined : this.#testInPieces(line)
    if (isFound === undefined) this.#unfinished++
    return isFound ?? false
  }

  /** Searches a line in pieces; undefined if the limit was reached without a match. */
  #testInPieces(line: string): boolean | undefined {
    const half = Math.ceil(this.#pieceLength / 2)
    const limit = getCpuMs() + MAX_LINE_CPU_MS
    for (let start = 0; start < line.length - half; start += half) {
      if (this.#compiled.test(line.slice(start, start + 2 * half))) return true
      if (getCpuMs() > limit) return undefined
    }
    return false
  }
}

/** Returns the CPU time of the process. */
function getCpuMs(): number {
  const { user, system } = cpuUsage()
  return (user + system) / 1000
}
