/** A daemon of the home and at the socket its arguments name, until whoever started it leaves. */
import { startDaemon } from '../../../src/daemon/index.ts'

const [home = '', socket = ''] = process.argv.slice(2)
const given = { env: {}, person: 'bench', version: 'bench', idleMs: null, commands: { env: {} } }
const daemon = await startDaemon({ ...given, home, socket })
process.on('disconnect', () => void daemon.stop())
process.send?.('ready')
