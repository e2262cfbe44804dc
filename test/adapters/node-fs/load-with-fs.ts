import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'

/** Module names by which packages import the machine's files. */
const FILES = new Set(['fs', 'node:fs', 'graceful-fs'])

/**
 * Loads a CommonJS package with another object for `fs`, for packages that do not accept one. @param packages
 * packages to load this way; their other dependencies load normally.
 */
export function loadWithFs(name: string, fs: object, packages: readonly string[]): unknown {
  const loaded = new Map<string, { exports: unknown }>()

  function load(file: string): unknown {
    const known = loaded.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    loaded.set(file, module)
    const require = createRequire(file)
    const needed = (wanted: string): unknown => {
      if (FILES.has(wanted)) return fs
      const isOurs = wanted.startsWith('.') || packages.includes(wanted)
      return isOurs ? load(require.resolve(wanted)) : require(wanted)
    }
    const names = ['module', 'exports', 'require', '__filename', '__dirname']
    const run = compileFunction(readFileSync(file, 'utf8'), names, { filename: file })
    run.call(module.exports, module, module.exports, needed, file, dirname(file))
    return module.exports
  }

  return load(createRequire(import.meta.url).resolve(name))
}
