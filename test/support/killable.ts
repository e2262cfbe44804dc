import { join } from 'node:path'
import { root } from './run-node.ts'

/** Options of Node with which a program is killed at a call that KILL_AT names. */
export const KILLABLE: string = `--import=${join(root, 'test/support/killed-at-call.ts')}`
