/** A process of its own that is killed when a command of an agent has ended and before what it changed is merged. */
import { subscribe } from 'node:diagnostics_channel'
import { openNamespace } from '../../src/namespace/index.ts'

const [, , home = ''] = process.argv
const commands = { env: { PATH: '/usr/bin:/bin' } }
const namespace = await openNamespace({ home, context: 'anna', vault: 'project', commands })
subscribe('tracing:coppice:exec:result:asyncEnd', () => process.kill(process.pid, 'SIGKILL'))
await namespace.tools().call('shell_exec', { command: 'echo new > made' })
