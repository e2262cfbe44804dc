import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { root } from './bundle-options.js'

// Removes declarations that no entry of the package leads to: two of three files, which nobody can import.
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = globSync(
  Object.values(exports).flatMap((entry) => entry.types ?? []),
  { cwd: root },
)
const needed = new Set()
for (const entry of entries) collect(join(root, entry))
for (const file of globSync('dist/**/*.d.ts', { cwd: root })) {
  if (!needed.has(join(root, file))) rmSync(join(root, file))
}

function collect(file) {
  if (needed.has(file)) return
  if (!existsSync(file)) throw new Error(`${file} is missing, and a declaration imports it`)
  needed.add(file)
  for (const [, specifier] of readFileSync(file, 'utf8').matchAll(
    /(?:\bfrom |\bimport\(|\bimport )['"](\.[^'"]+)['"]/g,
  )) {
    collect(resolve(dirname(file), specifier.replace(/\.[jt]s$/, '.d.ts')))
  }
}
