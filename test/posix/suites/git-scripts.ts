import { join } from 'node:path'
import type { Check, Suite } from '../check.ts'
import { debianSource, needHeader, needTools } from '../debian-source.ts'
import type { Places } from '../places.ts'
import { execute, lastLines, succeed } from '../program.ts'

/** Those of git's test scripts that ask most of a file system: names, modes, links, times, locks, renames, packs. */
const scripts = [
  't0000-basic',
  't0001-init',
  't0003-attributes',
  't0008-ignores',
  't0050-filesystem',
  't0100-previous',
  't1000-read-tree-m-3way',
  't1006-cat-file',
  't1300-config',
  't1400-update-ref',
  't1450-fsck',
  't1500-rev-parse',
  't2000-conflict-when-checking-files-out',
  't2021-checkout-overwrite',
  't2027-checkout-track',
  't2107-update-index-basic',
  't2400-worktree-add',
  't3010-ls-files-killed-modified',
  't3200-branch',
  't3400-rebase',
  't3600-rm',
  't3700-add',
  't3903-stash',
  't4006-diff-mode',
  't4013-diff-various',
  't4122-apply-symlink-inside',
  't5000-tar-tree',
  't5300-pack-object',
  't5304-prune',
  't5510-fetch',
  't5601-clone',
  't6020-bundle-misc',
  't6422-merge-rename-corner-cases',
  't7001-mv',
  't7003-filter-branch',
  't7300-clean',
  't7400-submodule-basic',
  't7508-status',
  't7700-repack',
] as const

const buildSettings = ['NO_CURL=1', 'NO_EXPAT=1', 'NO_GETTEXT=1', 'NO_TCLTK=1', 'NO_PYTHON=1', 'NO_OPENSSL=1']

/** Git's own tests, with their work on the mount. */
export const gitScripts: Suite = {
  name: 'git',
  about: "git's own test scripts, each compared with itself on the plain disk",
  async checks(places) {
    await needTools(['cc', 'gcc'], ['make', 'make'], ['perl', 'perl'])
    const git = await debianSource('git', build)
    return scripts.map((script) => compared(places, join(git, 't'), script))
  },
}

function compared(places: Places, directory: string, script: string): Check {
  return {
    name: script,
    async run() {
      const { plain, mounted } = places.pair(script)
      const [expected, found] = [
        await verdicts(directory, script, plain),
        await verdicts(directory, script, mounted),
      ]
      const others = [...found].filter(([name, verdict]) => expected.get(name) !== verdict)
      if (others.length > 0 || found.size !== expected.size) {
        const words = others.map(
          ([name, verdict]) => `${verdict} (on the plain disk: ${expected.get(name)}) ${name}`,
        )
        throw new Error(`${others.length} of ${expected.size} differ: ${words.join('\n')}`)
      }
      await succeed(['rm', '-rf', mounted])
    },
  }
}

/** How each test of a script went. */
async function verdicts(directory: string, script: string, root: string): Promise<Map<string, string>> {
  const { output } = await execute(['sh', `${script}.sh`, '--no-color', `--root=${root}`], { cwd: directory })
  const lines = [...output.matchAll(/^(ok|not ok) (\d+ - .*)$/gm)]
  if (lines.length === 0) throw new Error(`${script} tried nothing: ${lastLines(output)}`)
  return new Map(lines.map(([, verdict = '', name = '']) => [name, verdict]))
}

async function build(directory: string): Promise<void> {
  await needHeader('/usr/include/zlib.h', 'zlib1g-dev')
  await succeed(['make', '-j2', ...buildSettings], { cwd: directory })
}
