import { spawnSync } from 'node:child_process'
import { findMissingPackages, isInstalled } from './debian-programs.ts'

// Installs the programs of Debian that tests start, all at once: test files that each install their own find the lock
// of the package manager taken, and skip what they should test. `npm test` runs this before its tests.
/** Another program may be installing packages on a machine that has just started. */
const OPTIONS = ['-qq', '-o', 'Acquire::Retries=3', '-o', 'DPkg::Lock::Timeout=120']

const isRoot = process.getuid?.() === 0
if (isRoot && isInstalled('apt-get')) installPackages(findMissingPackages())
const missing = findMissingPackages()
if (missing.length > 0)
  console.log(
    `Tests are skipped that need a missing program. As root: apt-get update && apt-get install ${missing.join(' ')}`,
  )

function installPackages(packages: readonly string[]): void {
  if (packages.length === 0) return
  console.log(`Installing ${packages.join(', ')}`)
  aptGet('update')
  // Chromium draws no text without a font. A package that cannot be had must not keep the others away.
  const wanted = packages.includes('chromium-headless-shell') ? [...packages, 'fonts-dejavu-core'] : packages
  if (!install(wanted)) for (const one of wanted) install([one])
}

function install(packages: readonly string[]): boolean {
  return aptGet('install', '--yes', '--no-install-recommends', ...packages)
}

function aptGet(...args: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status, stderr } = spawnSync('apt-get', [...OPTIONS, ...args], { env, encoding: 'utf8' })
  if (status !== 0) process.stderr.write(stderr)
  return status === 0
}
