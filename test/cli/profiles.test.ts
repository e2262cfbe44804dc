import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { AGENT, Person, PROFILE } from './profile-person.ts'

const itHere = it.skipIf(whyNoOverlay() !== undefined)

describe('a profile', () => {
  itHere('lets a program work with its login, its variable and its settings', async () => {
    const person = new Person()
    const run = await person.exec('--', 'robot')
    expect(run).toMatchObject({ code: 0, stdout: '1\n' })
    expect(run.stderr).toContain('profile robot is in use')
    expect(run.stderr).toContain('hosts: api.robot.example')
    expect(run.stderr).toContain('A /work.txt')
    expect(run.stderr).not.toContain('withheld')
    // The real files are as before: what the program wrote is in the fork.
    expect(readdirSync(join(person.userHome, '.amp')).sort()).toEqual(['login', 'settings'])
    expect(existsSync(join(person.userHome, '.robot.json'))).toBe(false)
  })

  itHere('is shown once, and again when it has changed', async () => {
    const person = new Person()
    expect((await person.exec('--', 'robot')).stderr).toContain('profile robot is in use')
    expect((await person.exec('--', 'robot')).stderr).not.toContain('in use')
    person.writeProfile('robot', PROFILE.replace('api.robot', 'evil.robot'))
    expect((await person.exec('--', 'robot')).stderr).toContain('hosts: evil.robot.example')
  })

  itHere('gives a program arguments before its own, but not without isolation', async () => {
    const person = new Person(`args = ["-c", "sandbox=off"]\n${PROFILE}`)
    person.write('.local/bin/robot', '#!/bin/sh\necho "$@"\n', 0o755)
    const isolated = await person.exec('--', 'robot', 'fix', '-c')
    expect(isolated.stdout).toBe('-c sandbox=off fix -c\n')
    expect(isolated.stderr).toContain('arguments before yours: -c sandbox=off\n')
    expect(await person.run('profile', 'show', 'robot')).toMatchObject({
      stdout: expect.stringMatching(/^arguments +-c sandbox=off$/m),
    })
    expect((await person.exec('--isolation', 'none', '--', 'robot', 'fix')).stdout).toBe('fix\n')
    // A line for a shell chooses no profile, and has no place for arguments.
    expect((await person.exec('--with', 'robot', '--shell', '--', 'robot fix')).stdout).toBe('fix\n')
  })

  itHere('keeps the sessions of a program with the fork, until the fork is dropped', async () => {
    const person = new Person()
    await person.exec('--fork', 'one', '--', 'robot')
    expect(await person.exec('--fork', 'one', '--', 'robot')).toMatchObject({ code: 0, stdout: '2\n' })
    expect(await person.exec('--fork', 'two', '--', 'robot')).toMatchObject({ code: 0, stdout: '1\n' })
    const copies = join(person.cli.home, 'copies')
    expect(readdirSync(copies).sort()).toEqual(['one', 'two'])
    // An overlay leaves directories that their owner may not remove.
    expect(readdirSync(copies, { recursive: true }).filter((name) => name.includes('work-'))).toEqual([])
    await person.run('drop', 'one')
    expect(await person.exec('--fork', 'one', '--', 'robot')).toMatchObject({ code: 0, stdout: '1\n' })
  })

  itHere('goes on in a fork whose secrets were applied', async () => {
    const person = new Person()
    writeFileSync(join(person.cli.files, '.env'), 'TOKEN=secret-value-1\n')
    person.write('.local/bin/robot', `${AGENT}\necho MORE=2 >> .env\n`, 0o755)
    await person.exec('--fork', 'one', '--', 'robot')
    await person.run('apply', 'one')
    expect(await person.exec('--fork', 'one', '--', 'robot')).toMatchObject({ code: 0, stdout: '2\n' })
  })

  itHere('keeps the session of a named fork also if the project did not change', async () => {
    const person = new Person()
    person.write('.local/bin/robot', AGENT.replace(/echo "work.*/, ''), 0o755)
    await person.exec('--fork', 'talk', '--', 'robot')
    expect(await person.exec('--fork', 'talk', '--', 'robot')).toMatchObject({ code: 0, stdout: '2\n' })
    await person.exec('--', 'robot')
    expect(readdirSync(join(person.cli.home, 'copies'))).toEqual(['talk'])
  })

  itHere('holds for the program outside of the project, not for one of the same name inside', async () => {
    const person = new Person()
    const inside = join(person.cli.files, 'robot')
    writeFileSync(inside, '#!/bin/sh\necho inside; cat ~/.amp/login; echo $ROBOT_API_KEY\n', {
      mode: 0o755,
    })
    const env = { ...person.env, PATH: `${person.cli.files}:${person.env['PATH']}` }
    const first = await person.cli.run(['exec', '--', 'robot'], { env })
    expect(first.stdout).toBe('1\n')
    const local = await person.exec('--', './robot')
    expect(local.stdout).toBe('inside\n\n')
    expect(local.stderr).toContain('withheld from the command: ROBOT_API_KEY')
  })

  itHere('never comes from the project', async () => {
    const person = new Person('')
    mkdirSync(join(person.cli.files, 'profiles'))
    writeFileSync(join(person.cli.files, 'profiles/robot.toml'), PROFILE)
    mkdirSync(join(person.cli.files, '.coppice/profiles'), { recursive: true })
    writeFileSync(join(person.cli.files, '.coppice/profiles/robot.toml'), PROFILE)
    expect(await person.exec('--', 'robot')).toMatchObject({ code: 3 })
  })

  itHere('is also chosen by --with, for any command', async () => {
    const person = new Person()
    person.write('.local/bin/look', '#!/bin/sh\ncat ~/.amp/login ~/.ssh/id; echo "$ROBOT_API_KEY"\n', 0o755)
    expect((await person.exec('--', 'look')).stdout).toBe('\n')
    expect((await person.exec('--with', 'robot', '--', 'look')).stdout).toBe('let me in\nrobot-key\n')
    const unknown = await person.exec('--with', 'robto', '--', 'look')
    expect(unknown.code).not.toBe(0)
    expect(unknown.stderr).toMatch(/there is no profile 'robto'; known: aider, .*; did you mean 'robot'\?/)
  })

  itHere('works in a copy of the directory too', async () => {
    const person = new Person()
    expect(await person.exec('--session', 'dir', '--', 'robot')).toMatchObject({ code: 0, stdout: '1\n' })
  })
})

describe('coppice profile', () => {
  it('lists and shows the built-in profiles and those of the user', async () => {
    const person = new Person()
    const listed = await person.run('profile', 'list')
    expect(listed.stdout).toMatch(/^claude +claude +built in/m)
    expect(listed.stdout).toMatch(/^robot +robot +yours +A stand-in/m)
    const shown = await person.run('profile', 'show', 'claude', '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({
      name: 'claude',
      isBuiltIn: true,
      paths: expect.arrayContaining([
        { path: '.claude/.credentials.json', mode: 'share', isDirectory: false },
      ]),
    })
  })

  it('checks which paths exist, which variables are set, and which hosts are allowed', async () => {
    const person = new Person()
    const checked = await person.run('profile', 'check', 'robot')
    expect(checked.stdout).toMatch(/copy +~\/\.amp +there\n.*share +~\/\.amp\/login +there\n/)
    expect(checked.stdout).toMatch(/~\/\.robot\.json +missing/)
    expect(checked.stdout).toMatch(/variables set +ROBOT_API_KEY\n.*hosts +api\.robot\.example/)
    expect((await person.run('profile', 'check')).code).toBe(0)
  })

  it.each([
    ['[paths]\n"/etc" = "read"', 2, "'/etc' is absolute"],
    ['[paths]\n"~/.app" = "read"', 2, "'~/.app' begins with ~"],
    ['[paths]\n"a/../../b" = "read"', 2, "has a '..' component"],
    ['[paths]\n"./a" = "read"', 2, 'is not a path of files'],
    ['[paths]\n"" = "read"', 2, 'is not a path of files'],
    ['[paths]\n".app" = "write"', 2, 'must be one of read, copy, share, not "write"'],
    ['paths = [".app"]', 1, 'paths must be a table'],
    [
      '\nprogram = ["x"]',
      2,
      "there is no key 'program'; known: summary, programs, args, paths, env, sockets, hosts, mask; did you mean 'programs'?",
    ],
    ['programs = ["bin/x"]', 1, 'the name of a program, without a path, not "bin/x"'],
    ['env = ["A-B"]', 1, 'the name of a variable'],
    ['hosts = ["https://x.example"]', 1, 'a host such as example.com'],
    ['mask = "on"', 1, 'mask must be true or false'],
    ['mask = ', 1, 'not valid TOML'],
  ])('refuses %j with file and line', async (text, line, problem) => {
    const person = new Person(text)
    const checked = await person.run('profile', 'check', 'robot')
    expect(checked.code).toBe(1)
    expect(checked.stderr).toContain(`robot.toml:${line}: `)
    expect(checked.stderr).toContain(problem)
  })

  it('refuses paths of the home of Coppice', async () => {
    const person = new Person('[paths]\n".coppice/vaults/" = "copy"\n')
    const checked = await person.cli.run(
      ['profile', 'check', 'robot', '--home', join(person.userHome, '.coppice')],
      {
        env: person.env,
      },
    )
    expect(checked.stderr).toContain("there is no profile 'robot'")
    const env = { ...person.env, COPPICE_HOME: '' }
    mkdirSync(join(person.userHome, '.coppice/profiles'), { recursive: true, mode: 0o700 })
    writeFileSync(
      join(person.userHome, '.coppice/profiles/robot.toml'),
      '[paths]\n".coppice/vaults/" = "copy"\n',
    )
    const own = await person.cli.run(['profile', 'check', 'robot'], { env })
    expect(own).toMatchObject({ code: 1, stdout: expect.stringContaining('which commands never see') })
    const run = await person.cli.run(['exec', '--with', 'robot', '--', 'true'], { env })
    expect(run.stderr).toContain('which commands never see; remove it from the profile')
  })
})
