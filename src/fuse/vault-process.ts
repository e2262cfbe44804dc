/**
 * Program that reads mount options from its first input line, reports the mount, and serves it until its input ends.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isVfsError, VfsError } from '../vfs/index.ts'
import { mountVault, type VaultMountOptions } from './mount-vault.ts'

void serveVault()

async function serveVault(): Promise<never> {
  const lines = createInterface({ input: process.stdin })
  const [line]: unknown[] = await once(lines, 'line')
  const options: VaultMountOptions = JSON.parse(String(line))
  try {
    const mount = await mountVault(options)
    lines.once('close', () => mount[Symbol.asyncDispose]())
    writeMessage('mounted')
    await mount.ended
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    writeMessage(isVfsError(error) ? error : new VfsError('EIO', options.directory, { op: 'mount', detail }))
  }
  process.exit()
}

function writeMessage(message: unknown): void {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}
