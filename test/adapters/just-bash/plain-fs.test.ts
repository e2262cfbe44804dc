import { MemoryFs, MountTable } from 'coppice'
import { bashFileSystem, createBash } from 'coppice/adapters/just-bash'
import { describe, expect, it } from 'vitest'
import { PlainFs } from './plain-fs.ts'

const subjects = [
  {
    name: 'a file system without them',
    make: () => new PlainFs(new MemoryFs({ '/p/a': 'x\n', '/p/b': 'y\n' })),
  },
  {
    name: 'a mount without them, in a table that has them elsewhere',
    make: () =>
      new MountTable({ '/': new MemoryFs(), '/p': new PlainFs(new MemoryFs({ '/a': 'x\n', '/b': 'y\n' })) }),
  },
]

describe.each(subjects)('links, attributes and identities on $name', ({ make }) => {
  async function run(script: string): Promise<string> {
    const { stdout, stderr, exitCode } = await (await createBash(make(), { cwd: '/p' })).exec(script)
    return `${stdout}${stderr}${exitCode}`
  }

  it('are refused where a script must know', async () => {
    expect(await run('ln -s a l')).toMatch(/^ln: ENOTSUP: .*, symlink '\/p\/l'\n1$/)
    expect(await run('ln a h')).toMatch(/^ln: ENOTSUP: .*, link '\/p\/[ah]'\n1$/)
    expect(await run('readlink a')).toBe('1')
  })

  it('have defaults where nothing is known', async () => {
    expect(await run('mkdir d; stat -c "%a %F" a d')).toBe('644 regular file\n755 directory\n0')
  })

  it('are ignored where that is harmless', async () => {
    expect(await run('touch -d 2001-01-01 a new; chmod 600 a; ls; stat -c %a a')).toBe('a\nb\nnew\n644\n0')
    expect(await run('chmod 600 gone')).toBe("chmod: cannot access 'gone': No such file or directory\n1")
  })

  it('are not needed for copying and moving, also over existing files', async () => {
    expect(await run('cp a b; cat b; mv b c; ls; cp -r . /copy 2> /dev/null; mkdir d; mv a c d; ls d')).toBe(
      'x\na\nc\na\nc\n0',
    )
    expect(await run('cp a a')).toBe("cp: 'a' and '/p/a' are the same file\n1")
    expect(await run('[ a -ef b ] || echo two; echo more >> a; cat a; mkdir e; rmdir e; ls')).toBe(
      'two\nx\nmore\na\nb\n0',
    )
  })

  it('are not needed to detect an empty directory', async () => {
    const fs = bashFileSystem(make())
    await fs.mkdir('/p/d')
    await fs.writeFile('/p/d/f', 'x')
    await expect(fs.rm('/p/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' })
    await fs.rm('/p/d', { recursive: true })
    expect(await fs.readdir('/p')).toEqual(['a', 'b'])
  })
})
