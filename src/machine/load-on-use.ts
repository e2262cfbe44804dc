/**
 * Loads a module of Node that takes milliseconds, and that most programs never need, when it is used: so
 * `import 'coppice'` stays quick.
 */
export function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** See `loadCrypto`. */
export function loadFsPromises(): typeof import('node:fs/promises') {
  return process.getBuiltinModule('node:fs/promises')
}
