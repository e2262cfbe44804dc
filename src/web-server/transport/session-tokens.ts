import { randomBytes } from 'node:crypto'
import { BearerToken } from '../../http/index.ts'

const TOKEN_BYTES = 32
/** Sessions at most; the oldest ends. */
const MAX_SESSIONS = 32

/** The tokens of open pages. They are in memory only, and end with the server. */
export class SessionTokens {
  #tokens: BearerToken[] = []

  create(): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url')
    this.#tokens = [...this.#tokens, new BearerToken(token)].slice(-MAX_SESSIONS)
    return token
  }

  /** Reports whether a header has one of the tokens. Compares with all of them, whatever matches. */
  areIn(authorization: string | undefined): boolean {
    return this.#tokens.filter((token) => token.isIn(authorization)).length > 0
  }
}
