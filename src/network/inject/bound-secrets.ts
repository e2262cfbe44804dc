import type { NetworkTarget } from '../host-name.ts'
import { type HostRule, matchesHostRule } from '../host-rule.ts'
import type { MessageHeader } from '../proxy/message-headers.ts'
import { ValueMask } from './value-mask.ts'

/** A secret that a command knows by its placeholder only, and the hosts that get its value. */
export interface BoundSecret {
  readonly placeholder: string
  readonly value: string
  /** A rule without a port means the port of https. */
  readonly hosts: readonly HostRule[]
}

const HTTPS_PORT = 443
/** Characters that a header can have. A value of several lines would be several headers. */
const HEADER_VALUE = /^[\t\x20-\x7e]+$/
const BASIC = /^(basic +)([A-Za-z0-9+/]+={0,2})$/i
/** Headers that say where a message goes and how long it is. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
])

/** The secrets of a command that are bound to hosts. */
export class BoundSecrets {
  readonly #secrets: readonly BoundSecret[]

  constructor(secrets: readonly BoundSecret[]) {
    this.#secrets = secrets.filter(({ value }) => HEADER_VALUE.test(value))
  }

  /** Reports whether any secret is bound to a target. */
  hasTarget(target: NetworkTarget): boolean {
    return this.#secrets.some((secret) => isBoundTo(secret, target))
  }

  /** Returns headers for a target, with the values of the secrets that are bound to it in place of placeholders. */
  inject(target: NetworkTarget, headers: readonly MessageHeader[]): MessageHeader[] {
    const bound = this.#secrets.filter((secret) => isBoundTo(secret, target))
    return headers.map(([name, value]) =>
      FRAMING_HEADERS.has(name) ? [name, value] : [name, replacePlaceholders(value, bound)],
    )
  }

  /** Creates the mask for what a target sends back. */
  createMask(target: NetworkTarget): ValueMask {
    return new ValueMask(this.#secrets.filter((secret) => isBoundTo(secret, target)))
  }
}

function isBoundTo({ hosts }: BoundSecret, target: NetworkTarget): boolean {
  return hosts.some((rule) => matchesHostRule({ ...rule, port: rule.port ?? HTTPS_PORT }, target))
}

function replacePlaceholders(text: string, bound: readonly BoundSecret[]): string {
  const [, scheme = '', encoded] = BASIC.exec(text) ?? []
  if (encoded === undefined) return replaceIn(text, bound)
  const plain = Buffer.from(encoded, 'base64').toString('latin1')
  const replaced = replaceIn(plain, bound)
  return replaced === plain ? text : scheme + Buffer.from(replaced, 'latin1').toString('base64')
}

function replaceIn(text: string, bound: readonly BoundSecret[]): string {
  return bound.reduce((rest, { placeholder, value }) => rest.replaceAll(placeholder, () => value), text)
}
