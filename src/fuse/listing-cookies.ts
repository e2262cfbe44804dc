const FIRST_COOKIE = 3
/** Cookies of the directory's `.` and `..` entries. */
export const SELF_COOKIE = 1
export const PARENT_COOKIE = 2

/**
 * Cookies for positions in a directory listing. The kernel resumes after any entry by a 64-bit number.
 * The order of names has no such numbers, so each name gets a cookie until the kernel forgets the directory.
 */
export class ListingCookies {
  readonly #directories = new Map<number, { names: string[]; cookies: Map<string, number> }>()

  /** Returns the cookie of the position after a name. */
  getCookie(directory: number, name: string): number {
    let listing = this.#directories.get(directory)
    if (listing === undefined) {
      listing = { names: [], cookies: new Map() }
      this.#directories.set(directory, listing)
    }
    const cookie = listing.cookies.get(name) ?? listing.names.push(name) - 1 + FIRST_COOKIE
    listing.cookies.set(name, cookie)
    return cookie
  }

  /** Returns the name after which a listing resumes; undefined for an unknown cookie. */
  findName(directory: number, cookie: number): string | undefined {
    return this.#directories.get(directory)?.names[cookie - FIRST_COOKIE]
  }

  forget(directory: number): void {
    this.#directories.delete(directory)
  }
}
