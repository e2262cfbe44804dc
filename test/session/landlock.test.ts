import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EscapeReport, EscapeRun } from '../support/escapes.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { attempt, run, whyNoOverlay } from '../support/tools.ts'

/** A namespace with a setpriv that knows Landlock, whichever this machine has. */
const WITH_LANDLOCK = `mount -t tmpfs t /mnt && cp /usr/bin/setpriv /mnt/setpriv &&
mount --bind "$0" /usr/bin/setpriv && exec "$@"`
const standIn = join(root, 'test/support/setpriv-with-landlock.py')
const behind = (...words: string[]) =>
  ['unshare', '--mount', 'sh', '-c', WITH_LANDLOCK, standIn, ...words] as const

function whyNoLandlock(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can put another setpriv in its place'
  const words = [
    '--landlock-access',
    'fs:write-file,refer,truncate',
    '--landlock-rule',
    'path-beneath:write-file:/tmp',
    '--',
  ]
  const { status, stderr } = attempt(...behind('setpriv', ...words, 'true'))
  return status === 0 ? undefined : stderr
}

const why = whyNoOverlay() ?? whyNoLandlock()
let place = ''

beforeAll(() => {
  // Not in /tmp or /var/tmp, which may be written to behind Landlock, and where this checkout may lie.
  if (why === undefined) place = mkdtempSync('/opt/coppice-landlock-')
})

afterAll(() => {
  if (place !== '') rmSync(place, { recursive: true, force: true })
})

describe.skipIf(why !== undefined)(`behind Landlock${why ? `: ${why}` : ''}`, () => {
  function runConfined(isReadonly: boolean, script: string): string {
    const workspace = mkdtempSync(join(place, 'alone-'))
    mkdirSync(join(workspace, 'd'))
    writeFileSync(join(place, 'victim'), 'untouched')
    const words = [workspace, isReadonly ? 'readonly' : '', script]
    return run(...behind(process.execPath, programFile('landlock-process'), ...words))
  }

  it('a command changes its workspace and what is its own, and nothing else, though no mount keeps it', () => {
    const attacks = [
      'echo x > ../victim',
      'truncate -s 0 ../victim',
      'rm ../victim',
      'mkdir ../new',
      'mv d ../d',
    ]
    const said = runConfined(false, attacks.map((attack) => `${attack} && echo ESCAPED`).join('; '))
    expect(said).not.toContain('ESCAPED')
    expect(said.match(/Permission denied/g)).toHaveLength(attacks.length)
    expect(readFileSync(join(place, 'victim'), 'utf8')).toBe('untouched')
    const work =
      'echo x > f; mv f d/g; ln d/g h; rm d/g; truncate -s 9 h; : > /tmp/$$; rm /tmp/$$; : > /dev/null; ls'
    expect(runConfined(false, work)).toBe('d\nh\n')
  })

  it('a command that may only read changes no workspace either', () => {
    expect(runConfined(true, 'cat ../victim; echo x > f')).toMatch(/^untouched.*Permission denied/s)
  })

  it.each(['bubblewrap', 'unshare'] as const)('strict isolation by %s works as it does without', (means) => {
    const at = mkdtempSync(join(place, 'session-'))
    const escapes: EscapeRun['escapes'] = {
      work: 'mkdir n; echo hi > n/f; mv n/f g; rm -r dir; chmod 600 a.txt; echo x > /tmp/t && echo y > ~/t && cat /tmp/t ~/t',
      attack: 'echo x > "$OUTSIDE/victim" && echo ESCAPED',
    }
    const plan = { level: 'strict', network: false, means } as const
    const script = programFile('session-process')
    const attack: EscapeRun = { kind: 'auto', place: at, plan, escapes }
    const report: EscapeReport = JSON.parse(run(...behind(process.execPath, script, JSON.stringify(attack))))
    expect(report.attempts['work']).toEqual({ printed: 'x\ny\n' })
    expect(report.attempts['attack']?.printed).not.toContain('ESCAPED')
    expect(report.changed).toEqual(['/a.txt', '/dir', '/g', '/n'])
  })
})
