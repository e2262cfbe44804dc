import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome, type Vault } from '../../src/backends/vault/index.ts'
import { sweepStaleMounts } from '../../src/fuse/index.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount()
const FILES = 60

describe.skipIf(reason !== undefined)(`changes in a mount${reason ? `: ${reason}` : ''}`, () => {
  it('are there after a kill once they are closed or synced, and whole otherwise', async () => {
    await using mounted = await MountedVault.create()
    const directory = join(mounted.home, '../served')
    mkdirSync(directory)
    await using server = await ServerProcess.start(mounted.home, directory)
    const at = (name: string) => join(directory, name)
    mkdirSync(at('d'))
    for (let index = 0; index < FILES; index++) {
      writeFileSync(at(`d/${index}`), `content ${index}`)
      renameSync(at(`d/${index}`), at(`d/final-${index}`))
    }
    const [synced, written] = [openSync(at('synced'), 'w'), openSync(at('written'), 'w')]
    for (const piece of ['one ', 'two ', 'three ']) {
      writeSync(synced, piece)
      writeSync(written, piece)
    }
    fsyncSync(synced)
    writeSync(written, 'four')
    await server.kill()
    for (const fd of [synced, written]) expect(() => closeSync(fd)).not.toThrow('EBADF')
    await sweepStaleMounts()
    await using home = await openHome({ path: mounted.home })
    const vault = await home.vault('v')
    for (let index = 0; index < FILES; index++)
      expect(await contentOf(vault, `/d/final-${index}`)).toBe(`content ${index}`)
    expect(await contentOf(vault, '/synced')).toBe('one two three ')
    expect('one two three four'.startsWith(await contentOf(vault, '/written'))).toBe(true)
    expect((await home.fsck()).damaged).toEqual([])
  })

  it('of two mounts at once are all there', async () => {
    await using mounted = await MountedVault.create()
    const places = [mounted.path, (await mounted.mount()).directory]
    const script = `i=0; while [ $i -lt ${FILES} ]; do echo "$1 $i" > "$0/$1-$i"; i=$((i + 1)); done`
    const writers = places.map((place, index) => spawn('sh', ['-ec', script, place, String(index)]))
    const ends = await Promise.all(writers.map((writer) => once(writer, 'exit')))
    expect(ends.map(([code]) => code)).toEqual([0, 0])
    await using home = await openHome({ path: mounted.home })
    const vault = await home.vault('v')
    for (let index = 0; index < FILES; index++)
      for (const writer of [0, 1])
        expect(await contentOf(vault, `/${writer}-${index}`)).toBe(`${writer} ${index}\n`)
  })
})

async function contentOf(vault: Vault, path: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(vault.read(path))).toString()
}
