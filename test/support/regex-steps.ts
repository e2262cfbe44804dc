type Next = (at: number) => boolean
type Matcher = (at: number, next: Next) => boolean

/** An atom or an assertion of a pattern. A pattern of its own matches each character, so classes need no parser. */
type Piece = { readonly test: (at: number) => boolean } | { readonly match: Matcher }

/**
 * Counts the steps in which a backtracking engine goes through a text with a pattern: unlike time, it is the same on
 * every machine. For patterns of characters, classes, groups, alternatives, repetitions and assertions.
 */
export function countSteps(pattern: RegExp, text: string): number {
  return new StepCounter(pattern, text).count()
}

const ATOM = /^(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()|*+?{[\\])/s
const TIMES = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\?)?/

class StepCounter {
  readonly #text: string
  readonly #flags: string
  #rest: string
  #steps = 0

  constructor(pattern: RegExp, text: string) {
    this.#text = text
    this.#flags = pattern.flags.replaceAll(/[gy]/g, '')
    this.#rest = pattern.source
  }

  count(): number {
    const whole = this.#alternatives()
    if (this.#rest !== '') throw new Error(`cannot count the steps of ${this.#rest}`)
    for (let start = 0; start <= this.#text.length; ) {
      let end = start
      whole(start, (at) => {
        end = at
        return true
      })
      start = Math.max(end, start + 1)
    }
    return this.#steps
  }

  #alternatives(): Matcher {
    const choices = [this.#sequence()]
    while (this.#take('|')) choices.push(this.#sequence())
    return (at, next) => choices.some((choice) => choice(at, next))
  }

  #sequence(): Matcher {
    const parts: Matcher[] = []
    while (this.#rest !== '' && !/^[|)]/.test(this.#rest)) parts.push(this.#repeated(this.#piece()))
    return parts.reduceRight<Matcher>(
      (following, part) => (at, next) => part(at, (end) => following(end, next)),
      (at, next) => next(at),
    )
  }

  #piece(): Piece {
    const [, sign] = this.#rest.match(/^\((\?(?:<?[=!]|:))?/) ?? []
    if (this.#rest.startsWith('(')) {
      this.#rest = this.#rest.slice(1 + (sign?.length ?? 0))
      const inner = this.#rest
      const match = this.#alternatives()
      const source = inner.slice(0, inner.length - this.#rest.length)
      if (!this.#take(')')) throw new Error(`cannot count the steps of ${this.#rest}`)
      if (sign === undefined || sign === '?:') return { match }
      // What stands before is short in all patterns of ours.
      if (sign.startsWith('?<')) return this.#native(`(${sign}${source})`)
      return { match: (at, next) => match(at, () => true) === (sign === '?=') && next(at) }
    }
    const [atom = ''] = this.#rest.match(ATOM) ?? []
    if (atom === '') throw new Error(`cannot count the steps of ${this.#rest}`)
    this.#rest = this.#rest.slice(atom.length)
    if (atom === '^' || atom === '$' || atom === '\\b') return this.#native(atom)
    const one = new RegExp(`^(?:${atom})$`, this.#flags)
    const known = new Map<string, boolean>()
    return {
      test: (at) => {
        this.#steps++
        const character = this.#text[at]
        if (character === undefined) return false
        const is = known.get(character) ?? one.test(character)
        known.set(character, is)
        return is
      },
    }
  }

  #native(assertion: string): Piece {
    const pattern = new RegExp(assertion, `${this.#flags}y`)
    return {
      match: (at, next) => {
        this.#steps++
        pattern.lastIndex = at
        return pattern.test(this.#text) && next(at)
      },
    }
  }

  #repeated(piece: Piece): Matcher {
    const times = this.#rest.match(TIMES)
    if (times === null) return 'match' in piece ? piece.match : once(piece.test)
    this.#rest = this.#rest.slice(times[0].length)
    const [, sign, low, comma, high, lazy] = times
    const least = sign === undefined ? Number(low) : sign === '+' ? 1 : 0
    const upper = high === undefined || high === '' ? Number.POSITIVE_INFINITY : Number(high)
    const most = sign === '?' ? 1 : sign === undefined && comma === undefined ? least : upper
    if ('match' in piece) return repeatGroup(piece.match, least, most)
    return lazy === undefined ? greedy(piece.test, least, most) : reluctant(piece.test, least, most)
  }

  #take(sign: string): boolean {
    const isThere = this.#rest.startsWith(sign)
    if (isThere) this.#rest = this.#rest.slice(sign.length)
    return isThere
  }
}

function once(test: (at: number) => boolean): Matcher {
  return (at, next) => test(at) && next(at + 1)
}

function greedy(test: (at: number) => boolean, least: number, most: number): Matcher {
  return (at, next) => {
    let count = 0
    while (count < most && test(at + count)) count++
    for (; count >= least; count--) if (next(at + count)) return true
    return false
  }
}

function reluctant(test: (at: number) => boolean, least: number, most: number): Matcher {
  return (at, next) => {
    for (let count = 0; count <= most; count++) {
      if (count >= least && next(at + count)) return true
      if (!test(at + count)) return false
    }
    return false
  }
}

function repeatGroup(match: Matcher, least: number, most: number): Matcher {
  const from = (count: number): Matcher => {
    return (at, next) =>
      (count < most && match(at, (end) => end > at && from(count + 1)(end, next))) ||
      (count >= least && next(at))
  }
  return from(0)
}
