import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileSystem, MemoryFs } from 'coppice'
import { bashFileSystem, createBash } from 'coppice/adapters/just-bash'
import { openHome } from 'coppice/store'
import { Bash, InMemoryFs } from 'just-bash'
import { cwd, seedFiles } from './outcome.ts'

/** Creates shells, each on its own copy of the same files. */
export interface Subject extends AsyncDisposable {
  shell(): Promise<Bash>
}

/** Uses just-bash's own files in memory. */
export function inMemory(): Subject {
  const shell = async () => {
    const fs = new InMemoryFs()
    await seedFiles(fs)
    return new Bash({ fs, cwd })
  }
  return { shell, [Symbol.asyncDispose]: async () => {} }
}

export async function overMemory(): Promise<Subject> {
  const seeded = new MemoryFs()
  await seedFiles(bashFileSystem(seeded))
  return { shell: () => shellOn(seeded.fork()), [Symbol.asyncDispose]: async () => {} }
}

/** Uses forks of one vault on SQLite. */
export async function overVaults(): Promise<Subject> {
  const directory = await mkdtemp(join(tmpdir(), 'coppice-bash-'))
  const home = await openHome({ path: directory })
  await seedFiles(bashFileSystem(await home.createVault('seeded')))
  let forks = 0
  return {
    shell: async () => shellOn(await home.fork('seeded', `fork-${forks++}`)),
    [Symbol.asyncDispose]: async () => {
      await home.close()
      await rm(directory, { recursive: true })
    },
  }
}

function shellOn(fs: FileSystem): Promise<Bash> {
  return createBash(fs, { cwd })
}
