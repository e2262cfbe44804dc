const SHORT_NAME = /^(?<stem>.{1,6})~(?<number>\d{1,6})(?:\.(?<extension>.{1,3}))?$/
/** Names that already have the short form. */
const FITS_SHORT_FORM = /^[^. +,;=[\]]{1,8}(?:\.[^. +,;=[\]]{1,3})?$/
const HASH = /^[0-9a-f]{4}$/
/** Characters before the extension of a short name, with the tilde and the number. */
const SHORT_BASE_LENGTH = 8

/**
 * True if a name is the short name that Windows disks give a file with the long one: `git~1` for `.git`,
 * `creden~1.jso` for `credentials.json`. Both are folded.
 */
export function isShortNameFor(name: string, long: string): boolean {
  const { stem, number, extension = '' } = SHORT_NAME.exec(name)?.groups ?? {}
  if (stem === undefined || number === undefined || FITS_SHORT_FORM.test(long)) return false
  const [base, end] = splitExtension(long)
  if (extension !== end) return false
  if (stem === base.slice(0, SHORT_BASE_LENGTH - '~'.length - number.length)) return true
  // From the fifth such name on, Windows uses two letters and a hash.
  const letters = base.slice(0, 2)
  return stem.startsWith(letters) && HASH.test(stem.slice(letters.length))
}

function splitExtension(long: string): [base: string, extension: string] {
  const plain = long
    .replaceAll(' ', '')
    .replace(/^\.+/, '')
    .replaceAll(/[+,;=[\]]/g, '_')
  const dot = plain.lastIndexOf('.')
  if (dot === -1) return [plain, '']
  return [plain.slice(0, dot).replaceAll('.', ''), plain.slice(dot + 1, dot + 4)]
}
