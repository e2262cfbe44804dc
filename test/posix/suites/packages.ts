import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Check, DoesNotApply, type Suite } from '../check.ts'
import { execute, lastLines, succeed } from '../program.ts'

const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline']

/** A small project with a tree of dependencies, one with a program, and one with thousands of files. */
const manifest = {
  name: 'project',
  version: '1.0.0',
  private: true,
  dependencies: { semver: '7.7.2', zod: '4.1.5', '@modelcontextprotocol/sdk': '1.17.4' },
}

/** What a package manager installs is the same as on the plain disk. */
export const packages: Suite = {
  name: 'npm',
  about: 'npm ci of a small project, compared with the plain disk',
  async checks(places) {
    const { plain, mounted } = places.pair('project')
    writeFileSync(join(plain, 'package.json'), JSON.stringify(manifest))
    const { status, output } = await execute(['npm', 'install', '--package-lock-only', ...quiet], {
      cwd: plain,
    })
    if (status !== 0) throw new DoesNotApply(`the registry cannot be reached: ${lastLines(output, 1)}`)
    await succeed(['cp', join(plain, 'package.json'), join(plain, 'package-lock.json'), mounted])
    const install = async (cwd: string) => {
      await succeed(['npm', 'ci', ...quiet], { cwd })
    }
    return [
      {
        name: 'npm ci installs what it installs on the plain disk',
        async run() {
          await install(plain)
          await install(mounted)
          await succeed([
            'diff',
            '-r',
            '--no-dereference',
            join(plain, 'node_modules'),
            join(mounted, 'node_modules'),
          ])
        },
      },
      { name: 'npm ci over what is there', run: () => install(mounted) },
      {
        name: 'a program of a package runs',
        async run() {
          await succeed(['node_modules/.bin/semver', '1.2.3'], { cwd: mounted })
        },
      },
    ] satisfies Check[]
  },
}
