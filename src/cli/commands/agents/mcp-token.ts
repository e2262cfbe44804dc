import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { CommandError } from '../../framework/errors.ts'

/** Minimum length that resists guessing. */
const MIN_TOKEN_LENGTH = 16
const TOKEN_BYTES = 32

export interface McpToken {
  readonly token: string
  /** True for a token made now, which must be shown. */
  readonly isNew: boolean
}

/**
 * Returns the token for HTTP clients: from the file, the environment, or a new one. CommandError if it is short, or has
 * a space or a character outside of ASCII.
 */
export async function resolveToken(file: string | undefined): Promise<McpToken> {
  const given = file === undefined ? process.env['COPPICE_MCP_TOKEN'] : await readFile(file, 'utf8')
  if (given === undefined) return { token: randomBytes(TOKEN_BYTES).toString('base64url'), isNew: true }
  const token = given.trim()
  const where = file ?? 'COPPICE_MCP_TOKEN'
  if (/^[\x21-\x7e]+$/.test(token) && token.length >= MIN_TOKEN_LENGTH) return { token, isNew: false }
  throw new CommandError(
    `the token in ${where} must be one word of at least ${MIN_TOKEN_LENGTH} ASCII characters`,
  )
}
