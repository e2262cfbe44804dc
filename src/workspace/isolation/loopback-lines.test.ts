import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findTool } from './isolation-tools.ts'
import { createListenerLines, LOOPBACK_LINE } from './loopback-lines.ts'
import { probeNamespaces } from './namespaces.ts'

const { privilege } = await probeNamespaces()
const own = privilege === 'user' ? ['--user', '--map-root-user'] : []

/** Runs shell lines in a new network, with one program on the PATH. Returns what they print. */
function runInNetwork(lines: readonly string[], program?: readonly [name: string, path: string]): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-loopback-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  if (program !== undefined) symlinkSync(program[1], join(directory, program[0]))
  const script = [`PATH=${directory}`, ...lines].join('\n')
  return execFileSync('unshare', [...own, '--net', '--', '/bin/sh', '-c', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

describe.skipIf(privilege === 'none')('the loopback of a command', () => {
  it.each(['ip', 'busybox', 'ifconfig', 'perl', 'python3'])('is turned on by %s alone', async (name) => {
    const path = await findTool(name)
    if (path === undefined) return
    expect(runInNetwork([LOOPBACK_LINE, 'wait', '/bin/cat /proc/net/if_inet6'], [name, path])).toMatch(
      / lo$/m,
    )
  })

  it('is left off where nothing can turn it on, which is an error for a listener', () => {
    expect(runInNetwork([LOOPBACK_LINE, 'wait', '/bin/cat /proc/net/if_inet6'])).toBe('')
    expect(() => runInNetwork(createListenerLines(['true']))).toThrow(
      'cannot turn on the loopback of the command; install ip (iproute2), perl or python3',
    )
  })
})
