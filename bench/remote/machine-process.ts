import { openHome } from '../../src/backends/vault/index.ts'
import { SMALL_BYTES } from './sizes.ts'

/** A machine that makes as many commits in its fork as each message asks for. */
const [url = '', name = ''] = process.argv.slice(2)
const home = await openHome({ url })
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
