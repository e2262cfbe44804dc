/**
 * Patterns of keys and tokens by issuer. Each matches in linear time, since a model may choose the text: no pattern
 * nests repetitions.
 */
const TOKENS_BY_ISSUER: Readonly<Record<string, readonly RegExp[]>> = {
  openai: [/\bsk-[A-Za-z0-9_-]{16,}/g],
  github: [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, /\bgithub_pat_\w{20,}/g],
  gitlab: [/\bgl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_-]{16,}/g],
  npm: [/\bnpm_[A-Za-z0-9]{30,}/g],
  pypi: [/\bpypi-[A-Za-z0-9_-]{32,}/g],
  rubygems: [/\brubygems_[a-f0-9]{32,}/g],
  huggingface: [/\bhf_[A-Za-z0-9]{20,}/g],
  replicate: [/\br8_[A-Za-z0-9]{30,}/g],
  groq: [/\bgsk_[A-Za-z0-9]{30,}/g],
  stripe: [/\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/g, /\bwhsec_[A-Za-z0-9+/=]{24,}/g],
  slack: [
    /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
    /\bxapp-\d-[A-Za-z0-9-]{10,}/g,
    /(?<=\bhooks\.slack\.com\/services\/)[A-Za-z0-9/]{20,}/g,
  ],
  aws: [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, /\b(?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/=]{40,}/g],
  google: [/\bAIza[0-9A-Za-z_-]{35}/g, /\bya29\.[0-9A-Za-z_-]{20,}/g, /\bGOCSPX-[0-9A-Za-z_-]{20,}/g],
  azure: [
    /\bAccountKey=[A-Za-z0-9+/=]{40,}/g,
    /\bSharedAccessKey=[A-Za-z0-9+/=]{20,}/g,
    /\b[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34}/g,
  ],
  digitalocean: [/\bdo[opr]_v1_[a-f0-9]{40,}/g],
  hashicorp: [/\bhv[sbr]\.[A-Za-z0-9_-]{20,}/g, /\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}/g],
  fly: [/\b(?:fo1_[A-Za-z0-9_-]{30,}|fm[12]_[A-Za-z0-9+/=_-]{30,})/g],
  sendgrid: [/\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g],
  telegram: [/\b\d{8,10}:AA[A-Za-z0-9_-]{32,}/g],
  jwt: [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g],
  age: [/\bAGE-SECRET-KEY-1[A-Z0-9]{50,}/g],
}

/** All token patterns. */
export const TOKENS: readonly RegExp[] = Object.values(TOKENS_BY_ISSUER).flat()

export const PRIVATE_KEY: RegExp =
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g

/** The password of an address, such as `postgres://user:password@host`. */
export const URL_PASSWORD: RegExp = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:)([^\s/@]{3,})(?=@)/gi

const BEARER = /\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi
/** On one line only: the next line is another command. */
export const BEARER_ON_ONE_LINE: RegExp = /\b(bearer +)([A-Za-z0-9._~+/=-]{8,})/gi
/** `Authorization: Basic …`, and passwords as in `curl -u user:password`. */
const BASIC = /\b(basic +)[A-Za-z0-9+/]{8,}={0,2}/gi
const USER_PASSWORD =
  /((?:^|\s)(?:-u|--user|--proxy-user)[ =]?["']?[^\s:"']{1,100}:)(?!\d+(?:\s|$))[^\s"']{3,}/g
const ASSIGNED_SECRET =
  /((?:token|secret|password|passwd|api_?key)[A-Za-z0-9_-]{0,40}[\\"']{0,8}\s*[:=]\s*[\\"']{0,8})[^\s\\"',}]{8,}/gi

/** Secrets after a marker, which is the first group. */
export const MARKED_SECRETS: readonly RegExp[] = [BEARER, BASIC, USER_PASSWORD, URL_PASSWORD, ASSIGNED_SECRET]

/**
 * Every match of a token has one of these beginnings. Nearly all texts have none, so the patterns themselves seldom
 * run. It searches for one character of each beginning and looks back from there: a list of whole beginnings takes
 * several times as long.
 */
const TOKEN_BEGINNING =
  /[-_.=~:](?:(?<=\bsk-|\bgh[pousr]_|\bgithub_pat_|\bgl[a-z]{2,5}-|\bnpm_|\bpypi-|\brubygems_|\bhf_|\br8_|\bgsk_|k_(?:live|test)_|\bwhsec_|\bxox[a-z]-|\bxapp-|\.slack\.|\bya29\.|\bGOCSPX-|Key=|8Q~|\bdo[opr]_v1_|\bhv[sbr]\.|\.atlasv1\.|\bfo1_|\bfm[12]_|\bSG\.|\d{8}:|\bAGE-)|(?<=-----)(?=BEGIN))|AKIA|ASIA|FwoGZ|IQoJb|AIza|eyJ/
const SECRET_WORD = /bearer|basic|token|secret|passw|api_?key/i
const URL_USER = /:\/\/[^\s/]*@/

/** Reports whether a text may match one of `TOKENS` or `PRIVATE_KEY`. False is certain. */
export function canHaveToken(text: string): boolean {
  return TOKEN_BEGINNING.test(text)
}

/** Reports whether a text may match one of `MARKED_SECRETS`. False is certain. */
export function canHaveMarkedSecret(text: string): boolean {
  return text.includes('-u') || SECRET_WORD.test(text) || (text.includes('://') && URL_USER.test(text))
}

/** Reports whether a text contains a key, a token or an address with a password. */
export function hasSecretPattern(text: string): boolean {
  const hasToken = canHaveToken(text) && [...TOKENS, PRIVATE_KEY].some((form) => text.search(form) !== -1)
  return hasToken || (text.includes('://') && text.search(URL_PASSWORD) !== -1)
}
