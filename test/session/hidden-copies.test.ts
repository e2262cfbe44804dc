import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay } from '../support/tools.ts'

const why = whyNoOverlay()

/** A home directory with credentials, and a boundary that runs commands in it. */
async function userHome(session: 'dir' | 'overlay') {
  // Not in /tmp, which is private to a command anyway.
  const place = mkdtempSync(join(root, 'node_modules/.coppice-hidden-'))
  const directory = join(place, 'user')
  for (const name of ['.config/gh', '.config/app', '.ssh', 'work/home'])
    mkdirSync(join(directory, name), { recursive: true })
  for (const name of ['.config/gh/hosts.yml', '.netrc', '.ssh/id'])
    writeFileSync(join(directory, name), 'SECRET\n')
  writeFileSync(join(directory, '.config/app/settings'), 'plain\n')
  // A home of Coppice in the directory is a place like the others.
  const path = join(directory, 'work/home')
  const home = await openHome({ path })
  onTestFinished(async () => {
    await home.close()
    rmSync(place, { recursive: true, force: true })
  })
  writeFileSync(join(path, 'policy.toml'), '# SECRET\n')
  const boundary = await Boundary.open(home)
  let fork: string | undefined
  const exec = async (shell: string) => {
    const request = { vault: directory, command: { shell }, session, isolation: 'strict' } as const
    const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory }
    const report = await boundary.run(request, { fork, env, userHome: directory })
    fork = report.fork ?? undefined
    return report.result
  }
  const apply = async () => {
    const link = boundary.openLinkedDirectory(directory)
    const [made] = await link.listForks()
    return made === undefined ? [] : link.apply(made)
  }
  return { directory, exec, apply }
}

const RENAME = 'mv .config c2; mv work w2; mv .ssh s2; mv .netrc n2; rm -rf .config work'
const LOOK = 'grep -r SECRET . ; cat c2/gh/hosts.yml n2 s2/id w2/home/policy.toml; ls -A w2/home; true'

describe.skipIf(why !== undefined).each(['dir', 'overlay'] as const)(
  'a %s session over a home directory',
  (kind) => {
    it('gives no credentials away to a command that renames what is around them', async () => {
      const { exec } = await userHome(kind)
      for (const command of [`${RENAME}; ${LOOK}`, LOOK, `mkdir d; mv c2 d; ${LOOK}; grep -r SECRET d`]) {
        const { stdout, stderr } = await exec(command)
        expect(stdout, command).not.toContain('SECRET')
        expect(stdout, command).not.toContain('store')
        expect(stderr, command).not.toContain('SECRET')
      }
    })

    it('neither reports nor applies the removal of what is hidden', async () => {
      const { exec, apply, directory } = await userHome(kind)
      const { changed_files: changed } = await exec(RENAME)
      expect(changed.deleted).toContain('/.config/app/settings')
      expect(changed.deleted.filter((path) => /gh|netrc|ssh|home/.test(path))).toEqual([])
      await apply()
      for (const name of ['.config/gh/hosts.yml', '.netrc', '.ssh/id', 'work/home/policy.toml'])
        expect(readFileSync(join(directory, name), 'utf8'), name).toContain('SECRET')
      expect(existsSync(join(directory, '.config/app/settings'))).toBe(false)
      expect(readFileSync(join(directory, 'c2/app/settings'), 'utf8')).toBe('plain\n')
    })

    it('keeps nothing that a command puts in the place of what is hidden', async () => {
      const { exec, apply, directory } = await userHome(kind)
      await exec(
        'mv .config c2; echo mine > .config; echo mine > .netrc; echo mine > .ssh/id; echo kept > made',
      )
      await apply()
      for (const name of ['.config/gh/hosts.yml', '.netrc', '.ssh/id'])
        expect(readFileSync(join(directory, name), 'utf8'), name).toBe('SECRET\n')
      expect(readFileSync(join(directory, 'made'), 'utf8')).toBe('kept\n')
    })
  },
)
