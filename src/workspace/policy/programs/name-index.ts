/** Searches before a map is worth its time. A command that starts needs fewer; a server needs more. */
const MAX_SEARCHES = 20

/** Reports whether a list of names, separated by spaces, has a name. */
export function isListed(name: string, names: string): boolean {
  return names.includes(name) && names.split(' ').includes(name)
}

/**
 * Values by lists of names, separated by spaces; of two with the same name, the later one counts. To split all lists
 * takes each start milliseconds, so the first lookups search them.
 */
export class NameIndex<Value> {
  readonly #rows: readonly (readonly [names: string, value: Value])[]
  #searches = 0
  #values: ReadonlyMap<string, Value> | undefined

  constructor(rows: readonly (readonly [names: string, value: Value])[]) {
    this.#rows = rows
  }

  get(name: string): Value | undefined {
    if (this.#values === undefined && this.#searches++ < MAX_SEARCHES)
      return this.#rows.findLast(([names]) => isListed(name, names))?.[1]
    this.#values ??= new Map(
      this.#rows.flatMap(([names, value]) => names.split(' ').map((each) => [each, value] as const)),
    )
    return this.#values.get(name)
  }
}
