import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInstalled } from '../support/debian-programs.ts'
import { DoesNotApply } from './check.ts'
import { execute, lastLines, succeed } from './program.ts'

/** Kept from run to run: what is in it can be fetched and built again. */
const cache = join(tmpdir(), 'coppice-posix-sources')
/** Of the release that this machine has; the list of its own sources stays as it is. */
const SOURCES =
  'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian'

/**
 * The directory of a Debian source package, fetched and built if that was not done before.
 * `DoesNotApply` where it cannot be had; an error where it can be had and not be built.
 */
export async function debianSource(
  name: string,
  build: (directory: string) => Promise<void>,
): Promise<string> {
  const directory = join(cache, name)
  // What is built knows where it is, so it is built in place.
  const mark = join(directory, 'coppice-built')
  if (existsSync(mark)) return directory
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })
  await fetchSource(name, directory)
  await build(directory)
  writeFileSync(mark, '')
  return directory
}

/** Needs programs of Debian packages. `DoesNotApply` where one is missing and cannot be installed. */
export async function needTools(
  ...tools: readonly (readonly [program: string, debianPackage: string])[]
): Promise<void> {
  for (const [program, debianPackage] of tools)
    await needPackage(debianPackage, program, () => isInstalled(program))
}

/** Needs a header file of C. */
export function needHeader(file: string, debianPackage: string): Promise<void> {
  return needPackage(debianPackage, file, () => existsSync(file))
}

async function needPackage(debianPackage: string, file: string, isThere: () => boolean): Promise<void> {
  if (isThere()) return
  await execute(['apt-get', 'install', '-y', '-q', debianPackage])
  if (!isThere()) throw new DoesNotApply(`${file} is missing: apt-get install ${debianPackage}`)
}

async function fetchSource(name: string, directory: string): Promise<void> {
  await needTools(['apt-get', 'apt'], ['xz', 'xz-utils'])
  const env = { APT_CONFIG: await writeAptConfig() }
  const options = { cwd: directory, env }
  for (const command of [
    ['apt-get', '-q', 'update'],
    ['apt-get', '-q', 'source', '--download-only', name],
  ] as const) {
    const { status, output } = await execute([...command], options)
    if (status !== 0)
      throw new DoesNotApply(`the source of ${name} cannot be fetched: ${lastLines(output, 2)}`)
  }
  const archive = (await readdir(directory)).find((file) => /\.orig\.tar\.\w+$/.test(file))
  if (archive === undefined) throw new DoesNotApply(`there is no source archive of ${name}`)
  await succeed(['tar', '-x', '--strip-components=1', '-f', archive], { cwd: directory })
}

/** A configuration of our own, so that the machine's package lists stay as they are. */
async function writeAptConfig(): Promise<string> {
  const state = join(cache, 'apt')
  for (const part of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(state, part), { recursive: true })
  const release = await succeed(['sh', '-c', '. /etc/os-release; echo "$VERSION_CODENAME"'])
  writeFileSync(join(state, 'sources.list'), `${SOURCES} ${release.trim()} main\n`)
  const file = join(state, 'apt.conf')
  writeFileSync(
    file,
    `Dir::Etc::sourcelist "${state}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "${state}/lists";
Dir::Cache "${state}/cache";
APT::Sandbox::User "root";
`,
  )
  return file
}
