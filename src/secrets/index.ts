/**
 * Takes secrets out of whatever is kept or shown: those that are known by their values, and what looks like one.
 * Where a value comes from is for others to say; nothing here reads an environment.
 * Invariant: it takes time that grows with the text, whoever chose that.
 */
export { isCredential } from './credential-variables.ts'
export { isSecretName, KnownSecrets } from './known-secrets.ts'
export { Redactor } from './redactor.ts'
