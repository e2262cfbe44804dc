import { spawnSync } from 'node:child_process'
import { globSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bundle-options.js'
import { bundleProgram } from './bundle-program.js'

/** The bundler fails on one chunk for each module of all folders. Commands use few modules of the others. */
const TRACED =
  /^src\/(?:backends|boundary|cli|config|diff|machine|network|profiles|secrets|store|text|vfs|workspace)\//
/** The chunk of all modules in other folders, and that of all packages, which need nothing of ours. */
export const OTHERS = 'others'
const PACKAGES = 'packages'

const paths = new Map(globSync('src/**/*.ts', { cwd: root }).map((path) => [toChunkName(path), path]))

/** Calls a function with the directory of a bundle that has a chunk for each module, so that one sees what is loaded. */
export async function withTracedBundle(work) {
  const directory = join(root, 'dist/traced')
  try {
    await bundleProgram(directory, () => nameChunk, { isTraced: true })
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Returns the path of the module in a chunk of such a bundle; that of `others` for other folders, undefined for packages. */
export function toModulePath(file) {
  const [, name] = /([^/]+)-.{8}\.js$/.exec(file) ?? []
  return name === OTHERS ? OTHERS : paths.get(name)
}

function nameChunk(path) {
  if (TRACED.test(path)) return toChunkName(path)
  return path.startsWith('src/') ? OTHERS : PACKAGES
}

/** Lists pairs of modules: when the first is loaded, it uses the second. */
export function listLoadOrder() {
  return withTracedBundle((directory) => {
    const chunks = readdirSync(directory).filter((name) => /-.{8}\.js$/.test(name))
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', PRINT_LOADS, ...chunks], {
      cwd: directory,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    })
    if (status !== 0) throw new Error(`cannot load the modules of the command line: ${stderr}`)
    const pairs = JSON.parse(stdout).map((pair) => pair.map(toModulePath))
    return pairs.filter((pair) => !pair.includes(undefined))
  })
}

/** Loads chunks, and prints which others each of them asks for while it is loaded. */
const PRINT_LOADS = `
  const Module = require('node:module')
  const { basename, join } = require('node:path')
  const load = Module._load
  const loading = []
  const pairs = new Set()
  Module._load = function (id, ...rest) {
    if (!id.startsWith('./') && !id.startsWith('/')) return load.call(this, id, ...rest)
    for (const user of loading) if (user !== basename(id)) pairs.add(user + ' ' + basename(id))
    loading.push(basename(id))
    try {
      return load.call(this, id, ...rest)
    } finally {
      loading.pop()
    }
  }
  for (const chunk of process.argv.slice(1)) require(join(process.cwd(), chunk))
  console.log(JSON.stringify([...pairs].map((pair) => pair.split(' '))))
  process.exit()`

function toChunkName(path) {
  return path.replaceAll(/\W+/g, '_')
}
