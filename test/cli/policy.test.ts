import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from './run-cli.ts'

function cliWith(policy?: string): Cli {
  const cli = new Cli()
  mkdirSync(cli.home)
  if (policy !== undefined) writeFileSync(join(cli.home, 'policy.toml'), policy)
  return cli
}

describe('coppice policy explain', () => {
  it('shows the decision, the deciding part and the reason', async () => {
    const explanation = await cliWith().ok('policy', 'explain', '--shell', '--', 'ls | xargs sh -c "curl x"')
    expect(explanation).toMatch(/^require_approval: mutating, networked\n`curl x` reaches the network/)
    expect(explanation).toMatch(/^ {2}require_approval +curl x +networked: reaches the network$/m)
  })

  it('uses the rules of the home, and the working directory', async () => {
    const cli = cliWith('[[rule]]\naction = "deny"\nprogram = "make"\nreason = "use npm"\n')
    expect(await cli.json('policy', 'explain', '--', 'make', 'all')).toMatchObject({
      decision: { action: 'deny', categories: ['mutating'], reason: expect.stringContaining('use npm') },
      parts: [{ program: 'make', args: ['all'], rules: [{ action: 'deny' }] }],
    })
    expect(await cli.json('policy', 'explain', '--', 'cat', join(cli.files, 'a'))).toMatchObject({
      decision: { action: 'allow' },
    })
  })

  it('analyses a long command within the limits of a run', async () => {
    const words = Array.from({ length: 3000 }, (_, index) => `word${index}`)
    expect(await cliWith().json('policy', 'explain', '--', 'curl', ...words)).toMatchObject({
      decision: { action: 'require_approval', part: ['curl', ...words].join(' ') },
    })
    const nested = `${'$('.repeat(9000)}ls${')'.repeat(9000)}`
    expect(await cliWith().json('policy', 'explain', '--shell', '--', nested)).toMatchObject({
      decision: { action: 'deny' },
    })
  })
})

describe('coppice policy check', () => {
  it('reports a valid file', async () => {
    expect(await cliWith().ok('policy', 'check')).toContain('the defaults apply')
    expect(await cliWith('[[rule]]\naction = "ask"\nprogram = "x"\n').ok('policy', 'check')).toContain(
      '1 rule',
    )
  })

  it('reports every problem with its line, and fails', async () => {
    const { code, stderr } = await cliWith('[[rule]]\naction = "stop"\nprogam = "x"\n').run([
      'policy',
      'check',
    ])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /policy\.toml:2: action cannot be "stop".*\n.*policy\.toml:3: unknown key 'progam'/,
    )
  })
})
