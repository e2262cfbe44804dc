/**
 * Loads `node:crypto` when it is used. That takes milliseconds, and most programs never need it: so `import 'coppice'`
 * stays quick.
 */
export function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** Loads `node:fs/promises` when it is used, for the same reason as `loadCrypto`. */
export function loadFsPromises(): typeof import('node:fs/promises') {
  return process.getBuiltinModule('node:fs/promises')
}
