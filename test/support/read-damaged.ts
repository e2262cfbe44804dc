import { openHome } from '../../src/backends/vault/index.ts'
import { isVfsError, readText } from '../../src/public/index.ts'

/** Reads a home that may be damaged in every way there is, then salvages it; a crash must not take the test with it. */
const [path = '', out = ''] = process.argv.slice(2)

async function attempt<T>(work: () => Promise<T>): Promise<T | { code: string; message: string }> {
  try {
    return await work()
  } catch (error) {
    if (isVfsError(error)) return { code: error.code, message: error.message }
    throw error
  }
}

const read = await attempt(async () => {
  await using home = await openHome({ path })
  const { damaged } = await home.fsck()
  if (damaged.length > 0) return { damaged }
  const vault = await home.vault('base')
  for (const name of ['/file-0', '/file-1']) await attempt(() => readText(vault, name))
  await attempt(() => vault.write('/new', 'new'))
  return { damaged }
})
const salvaged = await attempt(async () => {
  await using home = await openHome({ path, toSalvage: true })
  // Awaited here: the home is closed when this function returns.
  return await home.salvage('base', out)
})
process.stdout.write(JSON.stringify({ read, salvaged }))
