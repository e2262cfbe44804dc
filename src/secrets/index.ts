/**
 * Redacts secrets in whatever is stored or shown: known values, and text that looks like a secret. Masks the values of
 * files by placeholders, and puts them back. The callers supply the values; nothing here reads an environment.
 * Invariant: it takes time linear in the text, even for hostile text.
 */
export { isCredential } from './credential-variables.ts'
export { isSecretName, KnownSecrets } from './known-secrets.ts'
export { SecretFiles, usualSecretFiles } from './mask/secret-files.ts'
export { hasPlaceholder, SecretMask } from './mask/secret-mask.ts'
export { Redactor } from './redactor.ts'
