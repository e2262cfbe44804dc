import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createTemporaryName, makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'

/** Time that a browser has to read the file. */
const FILE_LIFETIME_MS = 5000

/** Reports whether this session has a screen to open a browser on. */
export function hasScreen(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}

/**
 * Opens an address in the browser of this user; false if no program does. The address has a code, and other users can read
 * the arguments of programs: the browser gets a private file that leads there.
 */
export async function openBrowser(home: string, link: string): Promise<boolean> {
  const directory = join(home, 'run')
  makePrivateDirectory(directory)
  const file = join(directory, `${createTemporaryName()}.html`)
  makePrivateFile(file)
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${escapeAttribute(link)}">\n`)
  try {
    return await startProgram(pathToFileURL(file).href)
  } finally {
    // The program returns before the browser has read the file.
    setTimeout(() => rmSync(file, { force: true }), FILE_LIFETIME_MS)
  }
}

async function startProgram(address: string): Promise<boolean> {
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(program, [address], { detached: true, stdio: 'ignore' })
  child.unref()
  try {
    await once(child, 'spawn')
    return true
  } catch {
    return false
  }
}

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}
