import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const BENCH = new URL('../', import.meta.url)

/** Installs the peers on first use, and again when the lockfile has changed: they are no dependencies of Coppice. */
export async function installPeers(): Promise<void> {
  const [wanted, installed] = await Promise.all([
    getModifiedTime('package-lock.json'),
    getModifiedTime('node_modules/.package-lock.json'),
  ])
  if (wanted !== undefined && installed !== undefined && installed >= wanted) return
  process.stderr.write('Installing what we compare with into bench/node_modules (npm ci)…\n')
  // Output goes to stderr: stdout is for the table. No peer needs its install scripts.
  const npm = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(BENCH),
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error('npm ci failed in bench/; its error is above')
}

async function getModifiedTime(path: string): Promise<number | undefined> {
  try {
    return (await stat(new URL(path, BENCH))).mtimeMs
  } catch {
    return undefined
  }
}
