import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest Node we support. npm has no 22.13.0 for arm64. */
export const OLDEST = '22.13.1'
/** One of each line we support. */
export const SUPPORTED = [OLDEST, '24.21.0']

/** Returns the directory that has `node` in this version. npm brings it on first use; it stays in node_modules/.cache. */
export function installNode(version) {
  const home = fileURLToPath(new URL(`../node_modules/.cache/node-${version}`, import.meta.url))
  const bin = join(home, 'node_modules/node/bin')
  if (existsSync(join(bin, 'node'))) return bin
  console.log(`Installing Node ${version} from npm into node_modules/.cache`)
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
  execFileSync('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], {
    cwd: home,
    stdio: 'inherit',
  })
  return bin
}
