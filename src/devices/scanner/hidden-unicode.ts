const PICTURE = String.raw`[\p{Extended_Pictographic}\u{1F3FB}-\u{1F3FF}\u{FE0F}]`
/** Scripts that need joiners. */
const JOINED = String.raw`[\p{sc=Arab}\p{sc=Deva}\p{sc=Beng}\p{sc=Gujr}\p{sc=Guru}\p{sc=Knda}\p{sc=Mlym}\p{sc=Orya}\p{sc=Sinh}\p{sc=Taml}\p{sc=Telu}\p{M}]`

/** Joiners and selectors that writing needs: between the parts of an emoji, and in scripts that join letters. */
const NEEDED_JOINERS = new RegExp(
  [
    String.raw`(?<=${PICTURE})\u200D(?=\p{Extended_Pictographic})`,
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji}])[\uFE0E\uFE0F]`,
    `(?<=${JOINED})[\\u200C\\u200D](?=${JOINED})`,
  ].join('|'),
  'gu',
)

/** Control characters, without tab and line breaks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are the target
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/u
/** Zero widths, direction overrides, fillers, selectors and tags: visible to models, not to people. */
const HIDDEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each character is matched alone
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u
/** Private use: invisible in meaning to people, but possibly agreed on with a model. */
const PRIVATE = /[\ue000-\uf8ff\u{f0000}-\u{10ffff}]/u

/** Returns a hidden character of a text, as `U+200B`; undefined if there is none. */
export function findHiddenCharacter(text: string): string | undefined {
  const rest = text.replace(NEEDED_JOINERS, '')
  for (const kind of [CONTROL, HIDDEN, PRIVATE]) {
    const [found] = rest.match(kind) ?? []
    if (found !== undefined) return formatCodePoint(found)
  }
  return undefined
}

function formatCodePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
