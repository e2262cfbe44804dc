import { openHome } from '../../src/backends/vault/index.ts'
import { mountVault } from '../../src/fuse/index.ts'

/** Serves the vault `v` of a home, made if it is missing, until it is unmounted; says so when it is mounted. */
const [path, directory, name = 'sqlite'] = process.argv.slice(2)
const engine = name === 'lmdb' ? 'lmdb' : 'sqlite'
if (path === undefined || directory === undefined) throw new Error('usage: serve-vault <home> <directory>')
const home = await openHome({ path, engine })
if (!(await home.vaults()).includes('v')) await home.createVault('v')
await home.close()
const mount = await mountVault({ home: { path, engine }, vault: 'v', directory })
process.stdout.write('mounted\n')
await mount.ended
