// Removes compiled code that nothing used for a month: that of other versions, and of installations that are gone.
'use strict'
const fs = process.getBuiltinModule('node:fs')
const { getCompileCacheDir } = process.getBuiltinModule('node:module')
const { dirname, join } = process.getBuiltinModule('node:path')

const UNUSED_MS = 30 * 24 * 60 * 60 * 1000
/** The code of one version of Node. Nothing else in the cache is removed. */
const VERSION = /^v\d+\.\d+\.\d+-/
/** The compile cache of Node itself: files, where ours has a directory for each installation. */
const NODE_CACHE = /-[0-9a-f]{8}-\d+$/

/**
 * Records that an installation uses its code, and what Node keeps for it. Then removes other code of the cache that was
 * not used for a month. Does not throw.
 * @param mark the file in the directory of the installation whose time is that of the last recorded use.
 */
exports.removeUnusedCode = (mark) => {
  try {
    const now = new Date()
    fs.writeFileSync(mark, '', { mode: 0o600 })
    const compileCache = getCompileCacheDir()
    if (compileCache !== undefined) fs.utimesSync(compileCache, now, now)
    const installation = dirname(mark)
    const cache = dirname(dirname(installation))
    for (const entry of fs.readdirSync(cache, { withFileTypes: true }))
      if (entry.isDirectory() && VERSION.test(entry.name)) removeUnused(join(cache, entry.name))
  } catch {
    // The cache is full or read-only, or another process removes the same.
  }
}

function removeUnused(version) {
  if (NODE_CACHE.test(version)) removeIfUnused(version)
  else {
    for (const installation of list(version)) removeIfUnused(installation)
    if (list(version).length === 0) remove(version)
  }
}

/** Looks at the times of a directory and of what it holds: code that is written is used, too. */
function removeIfUnused(directory) {
  const oldest = Date.now() - UNUSED_MS
  if ([directory, ...list(directory)].every((path) => fs.statSync(path).mtimeMs < oldest)) remove(directory)
}

function remove(directory) {
  fs.rmSync(directory, { recursive: true, force: true })
}

function list(directory) {
  return fs.readdirSync(directory).map((name) => join(directory, name))
}
