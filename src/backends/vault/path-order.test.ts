import { describe, expect, it } from 'vitest'
import { MemoryEngine, StoreHome } from '../../store/index.ts'
import { readText } from '../../vfs/index.ts'
import { Vault } from './vault.ts'

async function openVault(): Promise<{ readonly vault: Vault; readonly countCommits: () => number }> {
  const home = new StoreHome(new MemoryEngine())
  const log = await home.createVault('v')
  let commits = 0
  log.subscribe(() => commits++)
  return { vault: new Vault(home, 'v', log), countCommits: () => commits }
}

async function* streamOf(text: string): AsyncGenerator<string> {
  for (const letter of text) yield letter
}

describe('changes of one path that are not awaited', () => {
  it('are one commit, applied in the order of their calls', async () => {
    const { vault, countCommits } = await openVault()
    const changes = Array.from({ length: 50 }, (_, index) => vault.write('/file', `${index}`))
    changes.push(vault.append('/file', '!'), vault.rename('/file', '/other'), vault.write('/file', 'new'))
    await Promise.all(changes)
    expect(await readText(vault, '/other')).toBe('49!')
    expect(await readText(vault, '/file')).toBe('new')
    expect(countCommits()).toBe(1)
  })

  it('wait for a stream before them', async () => {
    const { vault } = await openVault()
    const changes = [
      vault.write('/file', 'first'),
      vault.write('/file', streamOf('second')),
      vault.append('/file', ' and third'),
    ]
    await Promise.all(changes)
    expect(await readText(vault, '/file')).toBe('second and third')
    await Promise.all([vault.append('/file', streamOf('!')), vault.remove('/file')])
    expect(await vault.exists('/file')).toBe(false)
  })

  it('are applied though the one before was refused', async () => {
    const { vault } = await openVault()
    const results = await Promise.allSettled([
      vault.write('/file', 'kept'),
      vault.write('/file', 'refused', { ifMatch: 'another version' }),
      vault.mkdir('/file'),
      vault.append('/file', ' and longer'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(await readText(vault, '/file')).toBe('kept and longer')
  })

  it('do not see what the caller writes into its buffer later', async () => {
    const { vault } = await openVault()
    const bytes = Buffer.from('before')
    const written = [vault.write('/file', bytes), vault.append('/file', bytes)]
    bytes.fill('x')
    await Promise.all(written)
    expect(await readText(vault, '/file')).toBe('beforebefore')
  })
})
