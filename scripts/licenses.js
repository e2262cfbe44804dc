import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../node_modules', import.meta.url))

/** Writes the licenses of bundled packages beside the bundle. */
export function writeLicenses(directory, names) {
  writeFileSync(join(directory, 'LICENSES.txt'), names.map(readLicense).join('\n\n'))
}

function readLicense(name) {
  const [file = ''] = globSync('LICENSE*', { cwd: join(packages, name) })
  return `${name}\n\n${readFileSync(join(packages, name, file), 'utf8')}`
}
