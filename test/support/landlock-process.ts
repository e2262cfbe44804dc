/** A process of its own that runs a script behind Landlock alone, with no other confinement: what it printed. */
import { spawnSync } from 'node:child_process'
import { defaultLimits } from '../../src/workspace/isolation/index.ts'
import { findLandlockArgs } from '../../src/workspace/isolation/landlock.ts'

const [workspace = '', isReadonly = '', script = ''] = process.argv.slice(2)
const [file = '', ...args] = await findLandlockArgs({
  plan: { level: 'strict', network: false },
  limits: defaultLimits,
  privilege: 'root',
  user: { uid: 0, gid: 0 },
  directory: workspace,
  workspace,
  hasTerminal: false,
  isReadonly: isReadonly === 'readonly',
  hidden: [],
  opened: [],
  visible: [],
  sockets: [],
  visibleFiles: [],
})
const { stdout, stderr } = spawnSync(file, [...args, 'sh', '-c', script], {
  cwd: workspace,
  encoding: 'utf8',
})
process.stdout.write(stdout + stderr)
