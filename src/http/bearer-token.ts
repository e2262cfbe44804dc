import { createHash, timingSafeEqual } from 'node:crypto'

const AUTHORIZATION = /^Bearer +(\S+) *$/i

/** A secret that a client sends in the header `Authorization: Bearer`. */
export class BearerToken {
  readonly #digest: Buffer

  constructor(token: string) {
    this.#digest = hashToken(token)
  }

  /** Reports whether a header has the token. */
  isIn(authorization: string | undefined): boolean {
    const [, token] = AUTHORIZATION.exec(authorization ?? '') ?? []
    return token !== undefined && this.equals(token)
  }

  /**
   * Reports whether a text is the token. Compares digests, which have one length: the time reveals nothing about it.
   */
  equals(token: string): boolean {
    return timingSafeEqual(hashToken(token), this.#digest)
  }
}

function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
