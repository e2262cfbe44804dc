import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { makePrivateDirectory, makePrivateFile } from '../../machine/index.ts'

const PREFIX = 'open-ui-'
/** Time after which the code in a file is of no use. */
const FILE_LIFETIME_MS = 60_000

/** Reports whether this session has a screen to open a browser on. */
export function hasScreen(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.platform === 'darwin' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
}

/**
 * Opens an address in the browser of this user; false if no program does. The address has a code, and other users can
 * read the arguments of programs: the browser gets a private file that leads there.
 */
export async function openBrowser(home: string, link: string): Promise<boolean> {
  const directory = join(home, 'run')
  makePrivateDirectory(directory)
  removeOldFiles(directory)
  const file = join(directory, `${PREFIX}${process.pid}.html`)
  makePrivateFile(file)
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${escapeAttribute(link)}">\n`)
  return startProgram(pathToFileURL(file).href)
}

/** Removes the files of earlier calls. A browser may read its file after the program that wrote it has ended. */
function removeOldFiles(directory: string): void {
  for (const name of readdirSync(directory).filter((each) => each.startsWith(PREFIX))) {
    const file = join(directory, name)
    if (Date.now() - statSync(file).mtimeMs > FILE_LIFETIME_MS) rmSync(file, { force: true })
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
