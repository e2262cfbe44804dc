import { isUtf8 } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { findDotenvSlots } from './dotenv-slots.ts'
import { findJsonSlots } from './json-slots.ts'
import { isHarmlessValue, type SecretSlot } from './secret-slot.ts'

const PREFIX = 'coppice-secret-'
const DIGITS = 32
const PLACEHOLDER = new RegExp(`${PREFIX}[0-9a-f]{${DIGITS}}`, 'g')
/** Larger files are replaced as a whole. */
const MAX_PARSED_BYTES = 2 ** 20
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----/g
const PUBLIC_PEM = /^(?:TRUSTED )?CERTIFICATE$|PUBLIC KEY$|^DH PARAMETERS$|^EC PARAMETERS$|^X509 CRL$/
/** Key of a value that is a whole file. */
const WHOLE = ''

/** A masked file with its real values again. */
export interface RestoredContent {
  readonly bytes: Uint8Array
  /** True if placeholders are left: those that do not stand at their own key, or whose key has no value any more. */
  readonly hasPlaceholders: boolean
}

/** A value of a masked file that has a key, and its placeholder. */
export interface NamedSecret {
  /** Key of a line, with its section in front, or the path of a value of JSON: names joined by dots. */
  readonly name: string
  readonly value: string
  readonly placeholder: string
}

/**
 * Replaces the values of files by placeholders, and puts the values back. A placeholder is a code of its file and key
 * under a secret key, so it is the same every time and says nothing about the value.
 */
export class SecretMask {
  readonly #key: Uint8Array
  readonly #scope: string

  /** @param scope the project of the files, such as its directory. */
  constructor(key: Uint8Array, scope: string) {
    this.#key = key
    this.#scope = scope
  }

  /**
   * Returns the content with a placeholder for each value that may be secret. A file of another format becomes one
   * placeholder; public keys and certificates stay.
   */
  mask(path: string, content: Uint8Array): Uint8Array {
    return this.#maskExcept(path, content, () => false)
  }

  /** Masks content, except for the values that are shown. */
  #maskExcept(path: string, content: Uint8Array, isShown: (slot: SecretSlot) => boolean): Uint8Array {
    const text = toText(content)
    if (text !== undefined && isPublicPem(text)) return content
    const slots = text === undefined ? undefined : findSlots(text)
    if (text === undefined || slots === undefined)
      return content.length === 0 ? content : Buffer.from(`${this.#createPlaceholder(path, WHOLE)}\n`)
    const secret = slots.filter((slot) => !isHarmlessValue(slot.value) && !isShown(slot))
    return Buffer.from(
      replaceSlots(text, secret, (slot) => quoteLike(text, slot, this.#createPlaceholder(path, slot.key))),
    )
  }

  /**
   * Masks content as another state of the file is masked. What one of the states shows stays, as a command of the fork
   * wrote it there itself: the whole content, or a value at its key. If the state has lost its format, as by conflict
   * markers, only the values of its keys are replaced.
   * @param states all states of the file in the fork, masked or not.
   */
  maskLike(
    path: string,
    content: Uint8Array,
    like: Uint8Array,
    states: readonly Uint8Array[] = [like],
  ): Uint8Array {
    if (states.some((state) => Buffer.from(state).equals(content))) return content
    const [text, masked] = [toText(content), toText(like)]
    if (text === undefined || masked === undefined || findSlots(masked) !== undefined) {
      const shown = new Set(states.flatMap(listValues))
      return this.#maskExcept(path, content, (slot) => shown.has(formatValue(slot)))
    }
    const keys = new Set(this.#findOwnSlots(path, masked).map(({ key }) => key))
    if (keys.has(WHOLE)) return this.mask(path, content)
    const slots = (findDotenvSlots(text, true) ?? []).filter(({ key }) => keys.has(key))
    return Buffer.from(
      replaceSlots(text, slots, (slot) => quoteLike(text, slot, this.#createPlaceholder(path, slot.key))),
    )
  }

  /** Lists the values of a file that have a key of their own, and their placeholders. */
  listSecrets(path: string, content: Uint8Array): NamedSecret[] {
    const text = toText(content)
    const slots = text === undefined || isPublicPem(text) ? [] : (findSlots(text) ?? [])
    return slots
      .filter(({ value }) => !isHarmlessValue(value))
      .map(({ key, value, isJson }) => ({
        name: isJson === true ? formatJsonPath(key) : key,
        value,
        placeholder: this.#createPlaceholder(path, key),
      }))
  }

  /** Reports whether content is that of a masked file: a placeholder stands at its own key. */
  isMasked(path: string, content: Uint8Array): boolean {
    return hasPlaceholder(content) && this.#findOwnSlots(path, toText(content) ?? '').length > 0
  }

  /**
   * Puts the real values of a file into changed content, where their placeholders stand at their own keys.
   *
   * @param path the file that the placeholders are of.
   * @param like a state of the file: only keys that have their placeholder there get their values.
   */
  restore(path: string, content: Uint8Array, real: Uint8Array, like: Uint8Array = content): RestoredContent {
    const text = toText(content)
    if (text === undefined || !hasPlaceholder(content))
      return { bytes: content, hasPlaceholders: hasPlaceholder(content) }
    const keys = new Set(this.#findOwnSlots(path, toText(like) ?? '').map(({ key }) => key))
    const own = this.#findOwnSlots(path, text).filter(({ key }) => keys.has(key))
    if (own.some(({ key }) => key === WHOLE)) return { bytes: real, hasPlaceholders: false }
    const realText = toText(real) ?? ''
    const values = new Map((findSlots(realText) ?? []).map((slot) => [slot.key, slot]))
    const slots = own.filter(({ key }) => values.has(key))
    const restored = replaceSlots(text, slots, ({ key }) => {
      const { start = 0, end = 0 } = values.get(key) ?? {}
      return realText.slice(start, end)
    })
    const bytes = Buffer.from(restored)
    return { bytes, hasPlaceholders: hasPlaceholder(bytes) }
  }

  /**
   * Reports whether the values of a file can be put into changed content: it has none of the placeholders, or still has
   * the format of the file.
   */
  canRestore(path: string, content: Uint8Array, real: Uint8Array): boolean {
    if (!this.hasPlaceholderFrom(path, content, real)) return true
    const [text = '', realText] = [toText(content), toText(real)]
    const isWhole = text.trimEnd() === this.#createPlaceholder(path, WHOLE)
    if (isWhole || realText === undefined) return isWhole
    if (findJsonSlots(realText) !== undefined) return findJsonSlots(text) !== undefined
    return findDotenvSlots(realText) !== undefined
  }

  /** Reports whether content has a placeholder of any value of a file. */
  hasPlaceholderFrom(path: string, content: Uint8Array, real: Uint8Array): boolean {
    const text = toText(content)
    if (text === undefined || !hasPlaceholder(content)) return false
    const keys = [WHOLE, ...(findSlots(toText(real) ?? '') ?? []).map(({ key }) => key)]
    const found = new Set(text.match(PLACEHOLDER))
    return keys.some((key) => found.has(this.#createPlaceholder(path, key)))
  }

  /** Finds the values of a text that are the placeholder of their own key. */
  #findOwnSlots(path: string, text: string): SecretSlot[] {
    if (text.trimEnd() === this.#createPlaceholder(path, WHOLE))
      return [{ key: WHOLE, start: 0, end: text.length, value: text.trimEnd() }]
    const slots = findJsonSlots(text) ?? findDotenvSlots(text, true) ?? []
    return slots.filter(({ key, value }) => value === this.#createPlaceholder(path, key))
  }

  #createPlaceholder(path: string, key: string): string {
    const code = createHmac('sha256', this.#key)
      .update(JSON.stringify([this.#scope, path, key]))
      .digest('hex')
    return PREFIX + code.slice(0, DIGITS)
  }
}

/** Reports whether content has a placeholder of any file. */
export function hasPlaceholder(content: Uint8Array): boolean {
  return Buffer.from(content.buffer, content.byteOffset, content.length).includes(PREFIX)
}

function findSlots(text: string): SecretSlot[] | undefined {
  return findJsonSlots(text) ?? findDotenvSlots(text)
}

/** Lists the values of content with their keys. */
function listValues(content: Uint8Array): string[] {
  return (findSlots(toText(content) ?? '') ?? []).map(formatValue)
}

function formatValue({ key, value }: SecretSlot): string {
  return JSON.stringify([key, value])
}

function replaceSlots(
  text: string,
  slots: readonly SecretSlot[],
  replace: (slot: SecretSlot) => string,
): string {
  let [result, end] = ['', 0]
  for (const slot of slots) {
    result += text.slice(end, slot.start) + replace(slot)
    end = slot.end
  }
  return result + text.slice(end)
}

/** Returns a placeholder with the quotation marks of a value. A number of JSON becomes a text. */
function quoteLike(text: string, { start, isJson }: SecretSlot, placeholder: string): string {
  const first = text[start] ?? ''
  if (`"'\``.includes(first)) return first + placeholder + first
  return isJson === true ? `"${placeholder}"` : placeholder
}

/** Formats the key of a slot in a JSON document as names joined by dots. */
function formatJsonPath(key: string): string {
  const path: unknown = JSON.parse(key.replace(/\]#\d+$/, ']'))
  return Array.isArray(path) ? path.join('.') : key
}

function isPublicPem(text: string): boolean {
  const blocks = [...text.matchAll(PEM_BLOCK)].map(([, label = '']) => label)
  return blocks.length > 0 && blocks.every((label) => PUBLIC_PEM.test(label))
}

/** Returns content as text; undefined if it is no text or too large to be parsed. */
function toText(content: Uint8Array): string | undefined {
  if (content.length > MAX_PARSED_BYTES || !isUtf8(content)) return undefined
  const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString()
  return text.includes('\0') ? undefined : text
}
