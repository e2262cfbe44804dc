import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const FOLDER = new URL('./', import.meta.url)

/** Installs the programs on first use, and again when the lockfile has changed. Throws if there is no build. */
export async function installPrograms(): Promise<void> {
  if (!existsSync(new URL('../dist', FOLDER))) throw new Error('there is no build; run npm run build first')
  const [wanted, installed] = await Promise.all([
    readModifiedMs('package-lock.json'),
    readModifiedMs('node_modules/.package-lock.json'),
  ])
  if (wanted !== undefined && installed !== undefined && installed >= wanted) return
  process.stderr.write('Installing Claude Code and Codex into real-agents/node_modules (npm ci, 740 MB)…\n')
  // Claude Code's install script puts the program of this platform into place.
  const npm = spawn('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: fileURLToPath(FOLDER),
    stdio: ['ignore', 2, 2],
  })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error('npm ci failed in real-agents/; its error is above')
}

async function readModifiedMs(path: string): Promise<number | undefined> {
  try {
    return (await stat(new URL(path, FOLDER))).mtimeMs
  } catch {
    return undefined
  }
}
