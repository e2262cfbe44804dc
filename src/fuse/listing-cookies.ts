const FIRST_COOKIE = 3
/** Where a listing goes on behind the directory itself, and behind its parent. */
export const SELF_COOKIE = 1
export const PARENT_COOKIE = 2

/**
 * Numbers for the places in a directory's listing. The kernel goes on behind any entry it has seen by a number of 64
 * bits, and the order of names has no such numbers: so each name is given one for as long as the directory is known.
 */
export class ListingCookies {
  readonly #directories = new Map<number, { names: string[]; cookies: Map<string, number> }>()

  /** The number of the place behind a name. */
  getCookie(directory: number, name: string): number {
    let known = this.#directories.get(directory)
    if (known === undefined) {
      known = { names: [], cookies: new Map() }
      this.#directories.set(directory, known)
    }
    const cookie = known.cookies.get(name) ?? known.names.push(name) - 1 + FIRST_COOKIE
    known.cookies.set(name, cookie)
    return cookie
  }

  /** The name a listing goes on behind; undefined if it has none yet. */
  findName(directory: number, cookie: number): string | undefined {
    return this.#directories.get(directory)?.names[cookie - FIRST_COOKIE]
  }

  forget(directory: number): void {
    this.#directories.delete(directory)
  }
}
