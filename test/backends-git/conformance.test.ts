import { afterAll, describe, it } from 'vitest'
import { type GitFs, type GitReader, openGit } from '../../src/backends/git/index.ts'
import { fileSystemSuite, type Seed } from '../../src/conformance/index.ts'
import { MountTable, OverlayFs } from '../../src/vfs/index.ts'
import { TestRepository } from '../support/git-repository.ts'

const repositories = new Map<string, TestRepository>()
const opened = new Map<string, Promise<GitFs>>()

afterAll(async () => {
  for (const fs of opened.values()) await (await fs)[Symbol.asyncDispose]()
  for (const repository of repositories.values()) repository[Symbol.dispose]()
})

/** Opens one for each seed and reader: they are read-only. */
function openSeed(seed: Seed, reader: GitReader): Promise<GitFs> {
  const files = Object.keys(seed).join('\n')
  const repository = repositories.get(files) ?? new TestRepository([{ files: seed }])
  repositories.set(files, repository)
  const fs = opened.get(reader + files) ?? openGit(repository.path, { reader })
  opened.set(reader + files, fs)
  return fs
}

for (const reader of ['git', 'isomorphic-git'] satisfies GitReader[]) {
  fileSystemSuite(
    { describe, it },
    { name: `GitFs read by ${reader}`, create: (seed) => openSeed(seed, reader) },
  )
}

fileSystemSuite(
  { describe, it },
  {
    name: 'memory over a repository, in a mount table',
    create: async (seed) => new MountTable({ '/': new OverlayFs(await openSeed(seed, 'git')) }),
    runs: 5,
  },
)
