/** Writes numbered files into a vault for ever, and acknowledges each on stdout once it is committed. */
import { openHome } from '../../src/backends/vault/index.ts'

const [path = '', engine, start = '0'] = process.argv.slice(2)
const home = await openHome({ path, engine: engine === 'lmdb' ? 'lmdb' : 'sqlite' })
const vault = await home.vault('base')
for (let number = Number(start); ; number += 2) {
  // One alone, and two at once: a commit of one and a commit of several.
  await vault.write(`/d${number % 5}/f${number}`, `content ${number} `.repeat(40))
  process.stdout.write(`${number}\n`)
  const both = [
    vault.append('/log', `${number}\n`),
    vault.write(`/d${number % 5}/f${number + 1}`, `${number + 1}`),
  ]
  await Promise.all(both)
  process.stdout.write(`${number + 1}\n`)
}
