import { openHome } from '../../src/backends/vault/index.ts'
import { SMALL_BYTES } from './sizes.ts'
import { openSlowHome } from './slow-home.ts'

/** A machine that makes as many commits in its fork as each message asks for, beside the database or far from it. */
const [url = '', name = '', distance] = process.argv.slice(2)
const home = distance === 'far' ? (await openSlowHome(url)).home : await openHome({ url })
const vault = await home.vault(name)
const bytes = Buffer.alloc(SMALL_BYTES, 'x')
let passes = 0
process.on('message', (commits: number) => void commit(commits))
process.send?.('ready')

async function commit(commits: number): Promise<void> {
  passes++
  for (let number = 0; number < commits; number++)
    await vault.write(`/${passes}/${number % 100}/${number}`, bytes)
  process.send?.('done')
}
