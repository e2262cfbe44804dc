/** A process of its own that takes a checkout of the vault `base`, and dies: while it works on it, or uses it. */
import { join } from 'node:path'
import { openHome } from '../../src/backends/vault/index.ts'
import { type CheckoutHome, Checkouts } from '../../src/workspace/checkout/index.ts'

const [place = '', when] = process.argv.slice(2)
const home = await openHome({ path: join(place, 'home') })
const mortal: CheckoutHome = {
  vaults: () => home.vaults(),
  info: (name) => home.info(name),
  fork: (source, name) => home.fork(source, name),
  deleteVault: (name) => home.deleteVault(name),
  export: (...args) => home.export(...args),
  listTouchedPaths: (...args) => home.listTouchedPaths(...args),
  // Asked for when files are about to be written.
  posix: async (name) => (when === 'work' ? die() : home.posix(name)),
}
await new Checkouts(mortal, join(place, 'checkouts')).acquire('base')
die()

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment.
  for (;;);
}
