import { expect, it } from 'vitest'
import { guard, type Policy } from '../access/index.ts'
import { MemoryFs } from '../vfs/index.ts'
import { describeSurroundings } from './surroundings.ts'

const caller = { kind: 'process', pid: 7, context: 'anna' } as const

/** Returns the instructions in the system prompt of a process on these files, without their heading. */
async function readInstructions(fs: MemoryFs, policies: readonly Policy[] = []): Promise<string | undefined> {
  const text = await describeSurroundings({
    pid: 7,
    parent: 0,
    vault: 'base',
    namespace: { context: 'anna', fs: guard(fs, policies) },
    caller,
    devices: [],
    maxSteps: 10,
    contextBudget: 0,
  })
  return text.split('# Instructions of the project ')[1]
}

it('cuts long instructions at the end of a line, or inside of one that is too long', async () => {
  const lines = new MemoryFs({ '/workspace/AGENTS.md': 'a line\n'.repeat(1000) })
  expect(await readInstructions(lines)).toMatch(
    /\na line\n… \(cut; read the rest with file_read AGENTS.md\)$/,
  )
  const line = new MemoryFs({ '/workspace/AGENTS.md': `# Title\n${'x'.repeat(6000)}\n` })
  expect(await readInstructions(line)).toMatch(/# Title\nx{3900,4000}\n… \(cut/)
})

it('uses the first file with instructions in it', async () => {
  const files = new MemoryFs({ '/workspace/AGENTS.md': ' \n', '/workspace/CLAUDE.md': 'Use tabs.\n' })
  expect(await readInstructions(files)).toBe('(CLAUDE.md)\nUse tabs.')
  expect(await readInstructions(new MemoryFs({ '/workspace/AGENTS.md': '' }))).toBeUndefined()
})

it('follows links, but only to what the process may read', async () => {
  const fs = new MemoryFs({ '/workspace/docs/agents.md': 'Use tabs.\n', '/home/bob/secret': 'secret' })
  await fs.symlink('docs/agents.md', '/workspace/AGENTS.md')
  expect(await readInstructions(fs)).toBe('(AGENTS.md)\nUse tabs.')
  await fs.remove('/workspace/AGENTS.md')
  await fs.symlink('/home/bob/secret', '/workspace/AGENTS.md')
  await fs.write('/workspace/CLAUDE.md', 'Use spaces.\n')
  const closed: Policy = {
    name: 'homes',
    judges: 'everything',
    judge: (request) =>
      request.path.startsWith('/home/bob') && request.caller === caller ? 'it is closed' : null,
  }
  expect(await readInstructions(fs, [closed])).toBe('(CLAUDE.md)\nUse spaces.')
})
