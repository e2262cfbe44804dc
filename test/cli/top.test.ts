import { constants } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { DaemonCli } from './daemon-cli.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'

/** Time limit for slow machines. */
const patience = { timeout: 30_000 }

const FROM_THE_TOP = '\u001b[H'
const HIDDEN = '\u001b[?1049h\u001b[?25l'
const SHOWN = '\u001b[?25h\u001b[?1049l'
const CTRL_C = '\u0003'

/** A daemon with a running process, and a terminal to watch it. */
class Watching extends DaemonCli {
  static async create(): Promise<Watching> {
    const cli = new Watching()
    await cli.begin('be watched')
    return cli
  }

  begin(intent: string): Promise<string> {
    return this.ok('spawn', intent, '--script', this.script({ say: 'late', delay_ms: 600_000 }))
  }

  top(size: readonly [number, number] = [24, 120]): PseudoTerminal {
    const env = { ...process.env, COPPICE_HOME: this.home, XDG_RUNTIME_DIR: '', NODE_OPTIONS: '' }
    return new PseudoTerminal(
      [process.execPath, join(root, 'bin/coppice.js'), 'top', '--every', '0.05'],
      env,
      size,
    )
  }
}

/** Returns the lines of the last complete frame. */
function lastDrawing({ shown }: PseudoTerminal): string[] {
  const drawing = shown.split(FROM_THE_TOP).at(-2) ?? ''
  const steering = ['\u001b[K', '\u001b[J', '\r']
  return steering.reduce((text, code) => text.replaceAll(code, ''), drawing).split('\n')
}

const drawings = ({ shown }: PseudoTerminal) => shown.split(FROM_THE_TOP).length - 1

describe.skipIf(!hasProgram('python3'))('coppice top at a terminal', () => {
  it('draws running processes and their outcome, within the screen, until q', async () => {
    const cli = await Watching.create()
    const screen = cli.top()
    await expect.poll(() => lastDrawing(screen).join('\n'), patience).toMatch(/1 +0 +running.*be watched/)
    expect(screen.shown.startsWith(HIDDEN)).toBe(true)
    await cli.begin('come later')
    await expect.poll(() => lastDrawing(screen).join('\n'), patience).toContain('come later')
    screen.resize(5, 30)
    await expect.poll(() => Math.max(...lastDrawing(screen).map(({ length }) => length)), patience).toBe(30)
    expect(lastDrawing(screen).length).toBeLessThanOrEqual(5)
    const before = drawings(screen)
    // Enough frames that any leaked listener would cause a warning.
    await expect.poll(() => drawings(screen), patience).toBeGreaterThan(before + 12)
    screen.type('xq')
    expect(await screen.ended()).toEqual({ code: 0, isRestored: true })
    expect(screen.shown).not.toContain('Warning')
    expect(screen.shown.endsWith(SHOWN)).toBe(true)
  })

  it('ends on Ctrl-C and on a signal, and restores the terminal', async () => {
    const cli = await Watching.create()
    const ends = [
      { leave: (screen: PseudoTerminal) => screen.type(CTRL_C), code: 0 },
      { leave: (screen: PseudoTerminal) => screen.signal(constants.signals.SIGTERM), code: 143 },
    ]
    for (const { leave, code } of ends) {
      const screen = cli.top()
      await expect.poll(() => drawings(screen), patience).toBeGreaterThan(1)
      leave(screen)
      expect(await screen.ended()).toEqual({ code, isRestored: true })
      expect(screen.shown.endsWith(SHOWN)).toBe(true)
    }
  })

  it('reports on the normal screen that the daemon has ended', async () => {
    const cli = await Watching.create()
    const screen = cli.top()
    await expect.poll(() => drawings(screen), patience).toBeGreaterThan(1)
    await cli.ok('daemon', 'stop')
    expect(await screen.ended()).toEqual({ code: 1, isRestored: true })
    expect(screen.shown.split(SHOWN).at(-1)).toContain('the daemon has ended')
  })
})

describe('coppice top without a terminal', () => {
  it('prints once, as text or JSON, without control sequences', async () => {
    const cli = await Watching.create()
    expect(await cli.ok('top')).toMatch(/^coppice: 1 running, .*\n\nPID .*\n1 .*be watched\n$/)
    expect(await cli.json('top')).toMatchObject({
      status: { processes: 1 },
      processes: [{ pid: 1, state: 'running', intent: 'be watched' }],
    })
    for (const interval of ['often', '0', '1e9'])
      expect(await cli.run(['top', '--every', interval, '--once'])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`0.05 to 86400 seconds, not '${interval}'`),
      })
  })
})
