/** Runs a daemon with the home and the socket of its arguments, until its parent disconnects. */
import { startDaemon } from '../../../src/daemon/index.ts'

const [home = '', socket = ''] = process.argv.slice(2)
const given = { env: {}, person: 'bench', version: 'bench', idleMs: null, commands: { env: {} } }
const daemon = await startDaemon({ ...given, home, socket })
process.on('disconnect', () => void daemon.stop())
process.send?.('ready')
