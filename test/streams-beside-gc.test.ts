import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../src/backends/vault/index.ts'
import { largeContent } from './support/large-content.ts'

it.each(['sqlite', 'lmdb'] as const)(
  'a stream on %s goes on beside a collection that forgets its content, which was never flushed',
  async (engine) => {
    const path = mkdtempSync(join(tmpdir(), 'coppice-held-'))
    onTestFinished(() => rmSync(path, { recursive: true, force: true }))
    const home = await openHome({ path, engine })
    const vault = await home.createVault('base')
    await vault.write('/large', largeContent('before'))
    // Another session, as that of another process.
    const reading = await openHome({ path, engine })
    const stream = (await reading.vault('base')).read('/large')[Symbol.asyncIterator]()
    const { value: first } = await stream.next()
    await vault.write('/large', largeContent('after'))
    await home.gc({ keepHistory: new Date(Date.now() + 1000) })
    const rest: Uint8Array[] = []
    for (let part = await stream.next(); !part.done; part = await stream.next()) rest.push(part.value)
    expect(Buffer.concat([first ?? Buffer.alloc(0), ...rest]).equals(largeContent('before'))).toBe(true)

    // Nobody reads it any more.
    await home.gc({ keepHistory: new Date(Date.now() + 1000) })
    expect((await home.fsck()).damaged).toEqual([])
    await reading.close()
    await home.close()
  },
)
