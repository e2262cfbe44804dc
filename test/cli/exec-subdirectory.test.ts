import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

/** A repository with a package in a subdirectory. */
function createRepository(): { readonly cli: Cli; readonly root: string; readonly cwd: string } {
  const cli = new Cli()
  const root = realpathSync(cli.files)
  const cwd = join(root, 'packages/cart')
  git(['init', '-q', '-b', 'main', root])
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(root, 'package.json'), '{}\n')
  writeFileSync(join(cwd, 'cart.ts'), 'export {}\n')
  git(['-C', root, 'add', '.'])
  git(['-C', root, '-c', 'user.name=a', '-c', 'user.email=b', 'commit', '-q', '-m', 'begin'])
  return { cli, root, cwd }
}

describe.skipIf(whyNoOverlay() !== undefined)('in a directory that the shell names through a link', () => {
  it('a command line may name it so, as with $PWD, and nothing else', async () => {
    const { cli, root, cwd } = createRepository()
    const link = join(cli.scratch, 'linked')
    symlinkSync(root, link)
    const PWD = join(link, 'packages/cart')
    const exec = (words: readonly string[], pwd = PWD) =>
      cli.run(['exec', '--', ...words], { cwd, env: { PWD: pwd, HOME: cli.scratch } })
    for (const words of [
      ['cat', join(PWD, 'cart.ts')],
      ['sh', '-c', `cd ${PWD}; cat cart.ts`],
    ])
      expect(await exec(words)).toMatchObject({ code: 0, stdout: 'export {}\n' })
    expect((await exec(['cat', join(root, 'package.json')])).stdout).toBe('{}\n')
    symlinkSync(cli.scratch, join(cli.scratch, 'elsewhere'))
    for (const [words, pwd] of [
      [['cat', `${link}er/x`], PWD],
      [['cat', join(cli.scratch, 'x')], cli.scratch],
      [['cat', join(cli.scratch, 'elsewhere/x')], join(cli.scratch, 'elsewhere')],
    ] as const)
      expect((await exec(words, pwd)).stderr).toContain('outside the workspace')
  })
})

describe('in a subdirectory of a repository', () => {
  it('exec forks the repository, and starts the command in the subdirectory', async () => {
    const { cli, root, cwd } = createRepository()
    const script =
      'pwd; ls ../..; echo x >> cart.ts; git -c user.name=a -c user.email=b commit -q -a -m work; git status --short'
    const run = await cli.run(['exec', '--fork', 'f', '--shell', '--', script], { cwd })
    expect(run.stdout).toBe(`${cwd}\npackage.json\npackages\n`)
    expect(run.stderr).toContain('\n  M /packages/cart/cart.ts  +1\n  git: 1 commit on main\n')
    expect((await cli.run(['forks'], { cwd })).stdout).toMatch(/^f /)
    expect((await cli.run(['apply', 'f'], { cwd })).code).toBe(0)
    expect(git(['-C', root, 'log', '--format=%s']).toString()).toBe('work\nbegin\n')
  })

  it('the policy knows how far up the fork reaches', async () => {
    const { cli, cwd } = createRepository()
    const explain = async (...words: string[]) =>
      (await cli.run(['policy', 'explain', '--', ...words], { cwd })).stdout
    expect(await explain('cat', '../../package.json')).toMatch(/^allow: read_only/)
    expect(await explain('cat', '../../../outside')).toMatch(/^(deny|require_approval): .*host_escape_risk/)
  })

  it('exec forks a directory that the repository ignores by itself', async () => {
    const { cli, root, cwd } = createRepository()
    writeFileSync(join(root, '.gitignore'), 'cart\n')
    git(['-C', root, 'rm', '-r', '-q', '--cached', 'packages'])
    await cli.run(['exec', '--fork', 'f', '--shell', '--', 'echo x > new.txt'], { cwd })
    const listed = await cli.run(['forks', '--json'], { cwd })
    expect(JSON.parse(listed.stdout)).toMatchObject([{ fork: 'f', directory: cwd }])
  })

  it('exec forks the directory itself where the repository is the home directory', async () => {
    const { cli, root, cwd } = createRepository()
    const script = 'echo x > new.txt'
    const env = { HOME: root, COPPICE_HOME: cli.home }
    await cli.run(['exec', '--fork', 'f', '--shell', '--', script], { cwd, env })
    const listed = await cli.run(['forks', '--json'], { cwd })
    expect(JSON.parse(listed.stdout)).toMatchObject([{ fork: 'f', directory: cwd }])
  })
})
