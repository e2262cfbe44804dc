/** A call of a client on a file, and its response. */
export type Action =
  | { readonly op: 'read'; readonly found: string }
  /** A write on condition that the file holds what the client expects. */
  | { readonly op: 'swap'; readonly expected: string; readonly content: string; readonly hasWon: boolean }
  | { readonly op: 'append'; readonly text: string }

/** An action with the moments before and after it, on a clock all clients share. */
export interface Deed {
  readonly start: number
  readonly end: number
  readonly action: Action
}

/**
 * True if one order explains every response, with each call at one moment between its start and its end. Searches as
 * Wing and Gong do: tries every call that could be next, and remembers the states it has tried.
 */
export function isLinearizable(deeds: readonly Deed[], initial: string): boolean {
  const ordered = deeds.toSorted((one, other) => one.start - other.start)
  const tried = new Set<string>()
  const isPossible = (left: readonly Deed[], content: string): boolean => {
    if (left.length === 0) return true
    const situation = `${left.map((deed) => ordered.indexOf(deed)).join()}|${content}`
    if (tried.has(situation)) return false
    tried.add(situation)
    const firstEnd = Math.min(...left.map(({ end }) => end))
    return left.some((deed) => {
      // Somebody else's was over before this began.
      if (deed.start > firstEnd) return false
      const after = contentAfter(deed.action, content)
      return after !== undefined && isPossible(without(left, deed), after)
    })
  }
  return isPossible(ordered, initial)
}

/** Returns the content of the file after an action, or undefined if the response does not fit. */
function contentAfter(action: Action, content: string): string | undefined {
  if (action.op === 'read') return action.found === content ? content : undefined
  if (action.op === 'append') return content + action.text
  if (action.hasWon !== (action.expected === content)) return undefined
  return action.hasWon ? action.content : content
}

function without(deeds: readonly Deed[], gone: Deed): Deed[] {
  return deeds.filter((deed) => deed !== gone)
}
