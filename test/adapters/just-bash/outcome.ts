import type { Bash, FsStat, IFileSystem } from 'just-bash'

/** Working directory of scripts. */
export const cwd = '/w'

/** Everything a user can observe of a script. */
export interface Outcome {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly tree: readonly string[]
}

/** Later than every time that a script sets, and earlier than any write of this run. */
const LAST_SET_TIME = Date.parse('2024-01-01')

/** Creates the initial files of every script. */
export async function seedFiles(fs: IFileSystem): Promise<void> {
  const files = {
    'a.txt': 'alpha\nbeta\ngamma\n',
    'b.txt': 'one two\n',
    'dir/c.md': '# c\n\nsome text\n',
    'dir/sub/d.txt': 'deep\n',
    'run.sh': '#!/bin/bash\necho running\n',
  }
  await fs.mkdir(`${cwd}/dir/sub`, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    await fs.writeFile(`${cwd}/${name}`, content)
    await fs.utimes(`${cwd}/${name}`, new Date(), new Date('2020-01-01'))
  }
  await fs.chmod(`${cwd}/run.sh`, 0o755)
  await fs.symlink('a.txt', `${cwd}/link`)
  await fs.symlink('dir', `${cwd}/dirlink`)
}

export async function outcomeOf(bash: Bash, script: string): Promise<Outcome> {
  const { stdout, stderr, exitCode } = await bash.exec(script)
  return { stdout, stderr, exitCode, tree: await treeOf(bash.fs) }
}

/** Lists types, modes, content, targets, explicit times, and hard links. */
async function treeOf(fs: IFileSystem): Promise<string[]> {
  const groups = new Map<string, string>()
  const lines: string[] = []
  const visit = async (path: string): Promise<void> => {
    const stat = await fs.lstat(path)
    lines.push(`${path} ${stat.mode.toString(8)} ${await contentOf(fs, path, stat, groups)}`)
    if (!stat.isDirectory) return
    for (const name of await fs.readdir(path)) await visit(`${path}/${name}`)
  }
  await visit(cwd)
  return lines
}

async function contentOf(
  fs: IFileSystem,
  path: string,
  stat: FsStat,
  groups: Map<string, string>,
): Promise<string> {
  if (stat.isDirectory) return 'directory'
  if (stat.isSymbolicLink) return `-> ${await fs.readlink(path)}`
  const identity = stat.identity ?? `${stat.dev}:${stat.ino}`
  const first = groups.get(identity)
  groups.set(identity, first ?? path)
  const time = stat.mtime.getTime() < LAST_SET_TIME ? ` at ${stat.mtime.toISOString()}` : ''
  const bytes = Buffer.from(await fs.readFileBuffer(path))
  // Archives contain the time of their creation.
  const content =
    path.endsWith('.tar') || /\.t?gz$/.test(path) ? 'archive' : JSON.stringify(bytes.toString('latin1'))
  return `${content}${time}${first === undefined ? '' : ` is ${first}`}`
}
