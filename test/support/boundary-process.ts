/** A process of its own that runs a shell line in a vault of a home, in a session of a kind, and hands on what it says. */
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'

const [path = '', vault = '', shell = ''] = process.argv.slice(2)
await using home = await openHome({ path })
const boundary = await Boundary.open(home)
await boundary.run(
  { vault, command: { shell }, session: 'fuse', isolation: 'none' },
  { env: { PATH: '/usr/bin:/bin' }, onOutput: (_, chunk) => void process.stdout.write(chunk) },
)
