import type { LinePattern } from '../../vfs/index.ts'
import {
  allOf,
  anyOf,
  buildTrigramQuery,
  type CaseFolding,
  exactCase,
  type TrigramQuery,
} from './trigram-query.ts'

/** Builds the query for files with a line that may match. Never too strict: an unclear part requires nothing. */
export function buildPatternQuery(pattern: string | LinePattern): TrigramQuery {
  if (typeof pattern === 'string') return buildTrigramQuery(pattern, exactCase)
  if (!(pattern instanceof RegExp) && FOREIGN_SYNTAX.test(pattern.source)) return 'anything'
  return new PatternReader(pattern).buildQuery()
}

/**
 * Syntax that another engine may interpret differently from RegExp: groups with flags or names, nested classes, an
 * unmatched bracket, a quantifier of a quantifier.
 */
const FOREIGN_SYNTAX = /\(\?(?!:)|\[:|\[\^?\]|[*+?}](?:[*+{]|\?[*+?{])/

/** A literal character; null for any text; or a term with its own query. */
type PatternTerm = string | null | { readonly query: TrigramQuery }

/** Limit of terms that a quantifier repeats. */
const MAX_REPEATED_TERMS = 16
const ESCAPED_CONTROLS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f', v: '\v' }

/**
 * Reads the source of a RegExp for texts that every match contains. Understands common syntax and gives up at an
 * unknown escape. The source is a valid RegExp.
 */
class PatternReader {
  readonly #source: string
  readonly #folding: CaseFolding
  readonly #isUnicode: boolean
  readonly #hasSets: boolean
  #offset = 0
  #isSure = true

  constructor({ source, flags }: LinePattern) {
    this.#source = source
    this.#hasSets = flags.includes('v')
    this.#isUnicode = this.#hasSets || flags.includes('u')
    this.#folding = { ignoreCase: flags.includes('i'), unicode: this.#isUnicode }
  }

  buildQuery(): TrigramQuery {
    const query = this.#buildAnyQuery(this.#readAlternatives())
    return this.#isSure && this.#offset === this.#source.length ? query : 'anything'
  }

  /** Reads up to the end, or the bracket that closes the group. */
  #readAlternatives(): PatternTerm[][] {
    const alternatives: PatternTerm[][] = [[]]
    while (this.#offset < this.#source.length && this.#isSure && !this.#isNext(')')) {
      if (this.#skipIfNext('|')) alternatives.push([])
      else alternatives.at(-1)?.push(...this.#readQuantified())
    }
    return alternatives
  }

  #readQuantified(): PatternTerm[] {
    const terms = this.#readAtom()
    const minimum = this.#readMinimum()
    if (minimum === undefined) return terms
    if (minimum === 0) return [null]
    // The first repetition follows the term before, the last precedes the term after. Nesting would double the terms.
    return terms.length > MAX_REPEATED_TERMS ? [...terms, null] : [...terms, null, ...terms]
  }

  /** Reads a quantifier and returns its minimum; undefined if there is none. */
  #readMinimum(): number | undefined {
    const [all, symbol, braced] = this.#match(/(?:([*+?])|\{(\d+)(?:,\d*)?\})\??/y) ?? []
    if (all === undefined) return undefined
    return symbol === undefined ? Number(braced) : symbol === '+' ? 1 : 0
  }

  #readAtom(): PatternTerm[] {
    if (this.#skipIfNext('(')) return this.#readGroup()
    if (this.#skipIfNext('[')) return this.#skipClass()
    if (this.#skipIfNext('\\')) return this.#readEscape()
    if (this.#skipIfNext('.')) return [null]
    // Anchors have no width: the terms on both sides are adjacent.
    if (this.#skipIfNext('^') || this.#skipIfNext('$')) return []
    return [this.#readCharacter()]
  }

  #readGroup(): PatternTerm[] {
    const [, look, modifiers] = this.#match(/\?(?:(<?[=!])|([a-z-]*):|<[^>]*>)/y) ?? []
    const alternatives = this.#readAlternatives()
    this.#skipIfNext(')')
    if (look !== undefined) return []
    if (modifiers) return [null]
    const [only] = alternatives
    return only !== undefined && alternatives.length === 1
      ? only
      : [{ query: this.#buildAnyQuery(alternatives) }]
  }

  /** Skips a character class, which may match anything. */
  #skipClass(): PatternTerm[] {
    for (let depth = 1; depth > 0 && this.#offset < this.#source.length; ) {
      const [character] = this.#match(/\\?./sy) ?? ['']
      if (character === ']') depth--
      else if (character === '[' && this.#hasSets) depth++
    }
    return [null]
  }

  #readEscape(): PatternTerm[] {
    const [code, hex2, hex4] = this.#match(/x([0-9a-f]{2})|u([0-9a-f]{4})/iy) ?? []
    if (code !== undefined) return [String.fromCharCode(Number.parseInt(hex2 ?? hex4 ?? '', 16))]
    if (this.#isUnicode) {
      const [isPoint, point = ''] = this.#match(/u\{([0-9a-f]+)\}/iy) ?? []
      if (isPoint !== undefined) return [String.fromCodePoint(Number.parseInt(point, 16))]
      if (this.#match(/p\{[^}]*\}/iy)) return [null]
    }
    if (this.#match(/[bB]/y)) return []
    if (this.#match(/[dDsSwW]|\d+/y)) return [null]
    const [control] = this.#match(/[tnrfv]/y) ?? []
    if (control !== undefined) return [ESCAPED_CONTROLS[control] ?? null]
    this.#isSure &&= !/[a-z]/i.test(this.#source[this.#offset] ?? 'a')
    return [this.#readCharacter()]
  }

  /** Reads one unit of a quantifier: a whole character with the u flag, otherwise a UTF-16 unit. */
  #readCharacter(): string {
    const point = this.#source.codePointAt(this.#offset) ?? 0
    const character = this.#isUnicode ? String.fromCodePoint(point) : (this.#source[this.#offset] ?? '')
    this.#offset += character.length
    return character
  }

  #buildAnyQuery(alternatives: readonly PatternTerm[][]): TrigramQuery {
    return anyOf(alternatives.map((terms) => this.#buildAllQuery(terms)))
  }

  #buildAllQuery(terms: readonly PatternTerm[]): TrigramQuery {
    const queries: TrigramQuery[] = []
    let text = ''
    for (const term of [...terms, null]) {
      if (typeof term === 'string') {
        text += term
        continue
      }
      queries.push(buildTrigramQuery(text, this.#folding), ...(term === null ? [] : [term.query]))
      text = ''
    }
    return allOf(queries)
  }

  #isNext(character: string): boolean {
    return this.#source[this.#offset] === character
  }

  #skipIfNext(character: string): boolean {
    const isNext = this.#isNext(character)
    if (isNext) this.#offset++
    return isNext
  }

  /** Matches a sticky expression here, and moves behind the match. */
  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#offset
    const match = sticky.exec(this.#source)
    if (match !== null) this.#offset = sticky.lastIndex
    return match
  }
}
