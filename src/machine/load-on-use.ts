/**
 * Modules of Node that take milliseconds to load and that most programs never need. They are looked up when they are
 * used, so that `import 'coppice'` stays quick.
 */
export function loadCrypto(): typeof import('node:crypto') {
  return process.getBuiltinModule('node:crypto')
}

/** See `loadCrypto`. */
export function loadChildProcess(): typeof import('node:child_process') {
  return process.getBuiltinModule('node:child_process')
}

/** See `loadCrypto`. */
export function loadWorkerThreads(): typeof import('node:worker_threads') {
  return process.getBuiltinModule('node:worker_threads')
}

/** See `loadCrypto`. */
export function loadFsPromises(): typeof import('node:fs/promises') {
  return process.getBuiltinModule('node:fs/promises')
}
