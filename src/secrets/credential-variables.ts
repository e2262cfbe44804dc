import { hasSecretPattern } from './secret-patterns.ts'

/** Names of variables with a credential or a part of one. */
const CREDENTIAL_NAME =
  /SECRET|CREDENTIAL|(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SIGNING_KEY|ENCRYPTION_KEY|MASTER_KEY|DEPLOY_KEY|AUTH_KEY|LICENSE_KEY|COOKIE|BEARER|CONNECTION_STRING)S?(?:$|_)|(?:^|_)(?:PASS|AUTH|DSN|PAT)$|[A-Z]_PWD$/
/** Endings of names for locations and labels, which are not secret. */
const NON_SECRET_NAME =
  /(?:_|^)(?:FILE|PATH|DIR|SOCK|SOCKET|URL|URI|ENDPOINT|HOST|PORT|TYPE|NAME|HELPER|PROVIDER|EXPIRATION|EXPIRY|TTL|COUNT|LIMIT)$/
/** The border between camel-case words, as in `npm_config__authToken`. */
const WORD_BORDER = /([a-z0-9])([A-Z])/g
/** Names that may be a key. They count as credentials only if the value is opaque. */
const KEY_NAME = /[A-Z0-9]_KEY$/
const OPAQUE_VALUE = /^(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9+/=_.-]{16,}$/
/** Values that are no credentials whatever their name: switches, numbers and paths. */
const HARMLESS_VALUE = /^(?:|true|false|yes|no|on|off|none|null|-?\d{1,9}(?:\.\d+)?|[~.]{0,2}\/.*)$/is

/** Reports whether a variable looks like a credential, by its name or its value. */
export function isCredential(name: string, value: string): boolean {
  if (hasSecretPattern(value)) return true
  if (HARMLESS_VALUE.test(value)) return false
  const words = name.replaceAll(WORD_BORDER, '$1_$2').replaceAll('-', '_').toUpperCase()
  if (NON_SECRET_NAME.test(words)) return false
  return CREDENTIAL_NAME.test(words) || (KEY_NAME.test(words) && OPAQUE_VALUE.test(value))
}
