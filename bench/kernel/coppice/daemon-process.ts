/** Runs a daemon with the home, the socket and the model's address of its arguments, until its parent disconnects. */
import { startDaemon } from '../../../src/daemon/index.ts'

const [home = '', socket = '', model = ''] = process.argv.slice(2)
const env = { OPENAI_BASE_URL: model, OPENAI_API_KEY: 'bench' }
const given = { env, person: 'bench', version: 'bench', idleMs: null, commands: { env: {} } }
const daemon = await startDaemon({ ...given, home, socket })
process.on('disconnect', () => void daemon.stop())
process.send?.('ready')
