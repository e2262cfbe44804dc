import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { CommandConfinement } from './command-confinement.ts'
import { defaultLimits } from './isolation-plan.ts'
import { createScratchDirectory, createScratchLines } from './overlay-lines.ts'

it('removes earlier scratch directories, and quotes their names', () => {
  const session = mkdtempSync(join(tmpdir(), 'coppice-scratch-'))
  for (const name of ['scratch-1', 'scratch-2 kept', 'scratch-$(touch made)', 'kept'])
    mkdirSync(join(session, name))
  const confined: CommandConfinement = {
    plan: { level: 'strict', network: false },
    limits: defaultLimits,
    privilege: 'user',
    user: { uid: 0, gid: 0 },
    directory: session,
    workspace: '/workspace',
    isReadonly: false,
    hasTerminal: false,
    hidden: [],
    opened: [],
    visible: [],
    sockets: [],
    scratch: '/home/me',
    visibleFiles: [],
  }
  const [removing = ''] = createScratchLines(confined, createScratchDirectory(confined), [])
  execFileSync('sh', ['-c', removing], { cwd: session })
  expect(readdirSync(session)).toEqual(['kept', expect.stringMatching(/^scratch-\w{6}$/)])
  rmSync(session, { recursive: true })
})
