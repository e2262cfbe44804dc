import { describe, expect, it } from 'vitest'
import { checkNames } from '../care/check-names.ts'
import { MemoryEngine } from '../engines/memory-engine.ts'
import { StoreHome } from '../store-home.ts'
import { applyOperation } from './apply.ts'
import { countLinks, ROOT_INODE } from './vault-files.ts'

describe('the subdirectories of a directory', () => {
  it('stay uncounted where an earlier version made it, and are counted in new ones', async () => {
    const home = new StoreHome(new MemoryEngine())
    const files = (await home.createVault('base')).readFiles()
    files.setInode(ROOT_INODE, { ...files.getInode(ROOT_INODE), size: 0 })
    const moment = { time: { seconds: 1, nanos: 0 }, seq: 1 }
    for (const path of ['/new', '/new/below'])
      applyOperation(files, { op: 'mkdir', path, parents: false }, moment)
    const links = ['/', '/new', '/new/below'].map((path) => {
      const number = files.findByPath(path)
      return number === undefined ? undefined : countLinks(files.getInode(number))
    })
    expect(links).toEqual([1, 3, 2])
    expect(checkNames(files)).toEqual([])
    await home.close()
  })
})
