import { createInterface } from 'node:readline'
import { openHome } from '../../src/backends/vault/index.ts'

/** A process that leases a vault and obeys its standard input: `write PATH TEXT`, `flush`, `release`. */
const [url = '', path = '', vault = ''] = process.argv.slice(2)
const home = await openHome({ url, path })
const lease = await home.lease(vault)
console.log('leased')
for await (const line of createInterface({ input: process.stdin })) {
  const [command, ...rest] = line.split(' ')
  try {
    if (command === 'write') await lease.vault.write(rest[0] ?? '', rest.slice(1).join(' '))
    else if (command === 'flush') await lease.flush()
    else await lease.release()
    console.log('done')
  } catch (error) {
    console.log(error instanceof Error ? error.message : String(error))
  }
}
