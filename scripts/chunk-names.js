import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { OTHERS } from './traced-bundle.js'

/** For each kind of command, the modules that it loaded when they were traced (`node scripts/trace-modules.js`). */
const used = JSON.parse(readFileSync(new URL('used-modules.json', import.meta.url), 'utf8'))

/**
 * Names the chunks of modules, given their imports and the order in which they can be loaded. Modules that the same kinds of
 * commands use are loaded at once; all others by folder, when one of them is used.
 */
export function createChunkNames(imports, loadOrder) {
  const circles = findCircles(imports)
  const kinds = Object.entries(used).map(([kind, modules]) => [
    kind,
    addRequired(new Set(modules), loadOrder),
  ])
  return (path) => {
    const users = kinds.filter(([, modules]) => modules.has(path)).map(([kind]) => kind)
    if (users.length > 0) return ['for', ...users].join('-')
    const folder = getFolder(path)
    return (circles.get(folder) ?? folder).replaceAll(/\W+/g, '-').replace(/^-/, '')
  }
}

/**
 * Adds the modules that must be loaded before those of a kind, which may have changed since they were traced: two chunks
 * that need one another to be loaded could not be.
 */
function addRequired(modules, loadOrder) {
  const before = modules.size
  for (const [user, required] of loadOrder) {
    if (!modules.has(user)) continue
    if (required === OTHERS) throw new Error(`${user} uses a module of another folder when it is loaded`)
    modules.add(required)
  }
  return modules.size === before ? modules : addRequired(modules, loadOrder)
}

/** Returns a module's folder below `src`, or its package. */
function getFolder(path) {
  const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  return name ?? dirname(path.replace(/^src\//, ''))
}

/**
 * Finds folders that import each other in a circle, and returns for each the first of them. They share a chunk: one of
 * two would begin with what the other does not have yet.
 */
function findCircles(imports) {
  const folders = new Map()
  for (const [path, imported] of imports) {
    const folder = getFolder(path)
    const known = folders.get(folder) ?? []
    folders.set(folder, [...known, ...imported.map(getFolder)])
  }
  const reached = new Map([...folders.keys()].map((folder) => [folder, findReached(folder, folders)]))
  return new Map(
    [...reached].map(([folder, found]) => [
      folder,
      [folder, ...[...found].filter((other) => reached.get(other)?.has(folder))].sort()[0],
    ]),
  )
}

function findReached(folder, folders, found = new Set()) {
  for (const next of folders.get(folder) ?? []) {
    if (found.has(next)) continue
    found.add(next)
    findReached(next, folders, found)
  }
  return found
}
