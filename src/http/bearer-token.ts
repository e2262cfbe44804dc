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

  /** Digests have one length, so the time reveals nothing about the token. */
  equals(token: string): boolean {
    return timingSafeEqual(hashToken(token), this.#digest)
  }
}

function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
