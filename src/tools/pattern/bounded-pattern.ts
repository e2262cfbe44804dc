import { cpuUsage } from 'node:process'
import type { RE2JS } from 're2js'
import type { LinePattern } from '../../vfs/index.ts'

/** What one look at a line may cost: the size of the program times the characters, some tens of milliseconds at worst. */
const MAX_STEPS = 500_000
/** More work than this nobody else waits for because of a single line. Not by the clock: what is found does not depend on how busy a machine is. */
const MAX_LINE_CPU_MS = 100
/** What sees where a line begins or ends, and would see it at every piece; in brackets `^` means something else. */
const ANCHOR = /(?<!\[)\^|\$|\\[Az]/

/**
 * A pattern that does not hold up anybody by a single line. A line that may cost too much is searched in pieces that
 * overlap by half, until it took too long; with a pattern that asks where a line begins or ends, not at all.
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
    // Half a piece has room for everything a program without repetitions can match.
    this.#pieceLength = Math.max(Math.floor(MAX_STEPS / size), 2 * size)
  }

  /** How many lines were too long to be searched to their end. */
  get unfinished(): number {
    return this.#unfinished
  }

  test(line: string): boolean {
    if (line.length <= this.#pieceLength) return this.#compiled.test(line)
    const isFound = this.#isAnchored ? undefined : this.#testInPieces(line)
    if (isFound === undefined) this.#unfinished++
    return isFound ?? false
  }

  /** Undefined if nothing was found so far, and the rest would take too long. */
  #testInPieces(line: string): boolean | undefined {
    const half = Math.ceil(this.#pieceLength / 2)
    const limit = getCpuMs() + MAX_LINE_CPU_MS
    for (let at = 0; at < line.length - half; at += half) {
      if (this.#compiled.test(line.slice(at, at + 2 * half))) return true
      if (getCpuMs() > limit) return undefined
    }
    return false
  }
}

/** What the process has worked so far. */
function getCpuMs(): number {
  const { user, system } = cpuUsage()
  return (user + system) / 1000
}
