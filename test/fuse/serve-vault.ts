import { openHome } from '../../src/backends/vault/index.ts'
import { mountVault } from '../../src/fuse/index.ts'

/** Serves the vault `v` of a home, made if it is missing, until it is unmounted; says so when it is mounted. */
const [path, directory] = process.argv.slice(2)
if (path === undefined || directory === undefined) throw new Error('usage: serve-vault <home> <directory>')
const home = await openHome({ path })
if (!(await home.vaults()).includes('v')) await home.createVault('v')
await home.close()
const mount = await mountVault({ home: { path }, vault: 'v', directory })
process.stdout.write('mounted\n')
await mount.ended
