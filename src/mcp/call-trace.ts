import type { RequestId } from '@modelcontextprotocol/sdk/types.js'

/** Both are the client's to choose, and the journal keeps them for good. */
const MAX_NAME = 100
const MAX_ID = 60
/** What moves a cursor, turns text around or shows nothing: a journal is read on a terminal. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Which call of which client it is, for the journal: short and printable, whatever the client calls itself. */
export function formatTrace(client: string | undefined, id: RequestId): string {
  return `${truncatePrintable(client ?? 'mcp')}/${truncatePrintable(String(id), MAX_ID)}`
}

/** The beginning of a text of somebody else's, fit to be shown. */
export function truncatePrintable(text: string, length: number = MAX_NAME): string {
  const start = text.slice(0, length).toWellFormed().replace(UNPRINTABLE, '\ufffd')
  return text.length > length ? `${start}…` : start
}
