import { once } from 'node:events'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { KilledProject } from './killed-project.ts'
import { AGENT, Person, PROFILE } from './profile-person.ts'

/** An agent that writes its session, its settings and its login, and works on until it is killed. */
const LONG_AGENT = `${AGENT}
[ -z "$ROBOT_TOKEN" ] || { echo "$ROBOT_TOKEN" > ~/.amp/login; echo "$ROBOT_TOKEN" > ~/.robot.json; echo done; sleep 600; }
`

const reason = whyNoOverlay()

/** A user whose agent is killed together with Coppice. */
class KilledPerson extends Person {
  override readonly cli: KilledProject

  constructor() {
    const cli = new KilledProject()
    super(PROFILE, cli)
    this.cli = cli
    this.write('.local/bin/robot', LONG_AGENT, 0o755)
  }

  /** Kills Coppice once the agent has written everything. */
  async kill(fork: string, token: string): Promise<void> {
    const child = this.cli.start(['exec', '--fork', fork, '--', 'robot'], {
      env: { ...this.env, ROBOT_TOKEN: token },
    })
    let said = ''
    while (!said.includes('done')) said += String(await once(child.stdout, 'data'))
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Returns how many sessions the agent has in a fork, with this one. */
  async countSessions(fork: string): Promise<string> {
    const { stdout, stderr } = await this.exec('--fork', fork, '--', 'robot')
    return stdout === '' ? stderr : stdout
  }
}

describe.skipIf(reason !== undefined)(
  `the files of an agent that is killed${reason ? `: ${reason}` : ''}`,
  () => {
    it('stay with its fork, also if other agents run before its directory is there again', async () => {
      const person = new KilledPerson()
      const { cli } = person
      await person.kill('one', 'let me in')
      const [away, other] = [join(cli.scratch, 'away'), join(cli.scratch, 'other')]
      renameSync(cli.files, away)
      mkdirSync(other)
      expect(await cli.run(['exec', '--', 'robot'], { env: person.env, cwd: other })).toMatchObject({
        code: 0,
      })
      renameSync(away, cli.files)
      expect((await person.run('forks')).stderr).toContain(
        'a command of one was killed; the fork has its changes',
      )
      expect(await person.countSessions('one')).toBe('2\n')
    })

    it('are kept before the changes count as stored, by the command itself and by a recovery', async () => {
      const person = new KilledPerson()
      await person.cli.killAt('rmSync:/fork.json', ['exec', '--fork', 'one', '--', 'robot'], person.env)
      expect(await person.countSessions('one')).toBe('2\n')
      await person.kill('two', 'let me in')
      await person.cli.killAt('rmSync:/fork.json', ['forks'], person.env)
      expect(await person.countSessions('two')).toBe('2\n')
    })

    it('has a login that it changed just before', async () => {
      const person = new KilledPerson()
      const login = join(person.userHome, '.amp/login')
      await person.kill('one', 'another token')
      await person.run('forks')
      expect(readFileSync(login, 'utf8')).toBe('another token\n')
      // What others wrote later stays.
      await person.run('forks')
      writeFileSync(login, 'let me in\n')
      await person.kill('two', 'third token')
      writeFileSync(login, 'of another program\n')
      await person.run('forks')
      expect(readFileSync(login, 'utf8')).toBe('of another program\n')
    })

    it('include single files of the home', async () => {
      const person = new KilledPerson()
      await person.kill('one', 'let me in')
      await person.run('forks')
      person.write('.local/bin/robot', '#!/bin/sh\ncat ~/.robot.json\n', 0o755)
      expect((await person.exec('--fork', 'one', '--', 'robot')).stdout).toBe('let me in\n')
    })
  },
)
