/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES = parsePairs(
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ӏl кk мm тt вb нh гr пn αa εe οo ρp υu νv ιi κk τt χx ηn γy ωw ıi ɡg ɑa ѵv ոn սu օo հh ɩi ʀr ɴn ɢg',
)
/** Digits and signs that stand for letters inside words. */
const SIGNS = parsePairs('0o 1i 3e 4a 5s 7t @a $s')
/** Matches `i g n o r e` and `i.g.n.o.r.e`: single letters, each separated from the next. */
const SPACED = /(?<![\p{L}\p{N}])(?:[\p{L}\p{N}][ ._*-]){4,}[\p{L}\p{N}](?![\p{L}\p{N}])/gu
const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g
const ESCAPED = /%[0-9a-f]{2}|&#x?[0-9a-f]{1,6};|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}/gi
const MAX_DECODED = 20

/** The forms of a text that rules match against. */
export interface NormalizedText {
  /** Lower case without accents, lookalikes as Latin letters, line breaks preserved. */
  readonly plain: string
  /** The words of `plain` alone, separated by one space. */
  readonly words: string
  /** Lower case in its own script, with each white space as one space. */
  readonly native: string
}

/** Normalizes a text, and the decoded forms of its encoded parts. */
export function normalizeText(text: string): NormalizedText[] {
  return [text, ...decodeParts(text)].map(normalizePart)
}

function normalizePart(text: string): NormalizedText {
  const native = text.normalize('NFKC').toLowerCase()
  const plain = [...native.normalize('NFD').replace(/\p{M}/gu, '')]
    .map((letter) => LOOKALIKES.get(letter) ?? letter)
    .join('')
  return { plain, words: extractWords(plain), native: native.replace(/\s+/g, ' ') }
}

function extractWords(plain: string): string {
  const whole = plain.replace(SPACED, (letters) => letters.replaceAll(/[^\p{L}\p{N}]/gu, ''))
  return whole
    .replace(/['’]/g, '')
    .replace(/[\p{L}\p{N}@$]+/gu, (word) => (/\p{L}/u.test(word) ? replaceSigns(word) : word))
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

function replaceSigns(word: string): string {
  return [...word].map((sign) => SIGNS.get(sign) ?? sign).join('')
}

function decodeParts(text: string): string[] {
  const unescaped = text.replace(ESCAPED, unescapeCharacter)
  const blobs = (text.match(BASE64) ?? []).slice(0, MAX_DECODED).flatMap((blob) => {
    const decoded = Buffer.from(blob, 'base64').toString('utf8')
    return isProse(decoded) ? [decoded] : []
  })
  return unescaped === text ? blobs : [unescaped, ...blobs]
}

function unescapeCharacter(escaped: string): string {
  const [, hex, decimal] = escaped.match(/^(?:%|&#x|\\u|\\x)([0-9a-f]+)|^&#(\d+)/i) ?? []
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : escaped
}

/** True if decoded bytes are text of several words. */
function isProse(text: string): boolean {
  return /^[\p{L}\p{N}\p{P}\p{S}\s]+$/u.test(text) && / /.test(text) && !text.includes('\ufffd')
}

function parsePairs(list: string): ReadonlyMap<string, string> {
  return new Map(list.split(' ').map(([from = '', to = '']) => [from, to]))
}
