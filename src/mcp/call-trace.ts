import type { RequestId } from '@modelcontextprotocol/server'

/** Length of texts that the client chooses and the journal keeps for good. */
const MAX_NAME_LENGTH = 100
const MAX_ID_LENGTH = 60
/** Characters that move a cursor, reverse text or are invisible: a journal is read on a terminal. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Formats a client's call for the journal: short and printable, whatever the client's name. */
export function formatTrace(client: string | undefined, id: RequestId): string {
  return `${truncatePrintable(client ?? 'mcp')}/${truncatePrintable(String(id), MAX_ID_LENGTH)}`
}

/** Returns the printable beginning of a foreign text. */
export function truncatePrintable(text: string, length: number = MAX_NAME_LENGTH): string {
  const start = text.slice(0, length).toWellFormed().replace(UNPRINTABLE, '\ufffd')
  return text.length > length ? `${start}…` : start
}
