import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { run } from '../support/tools.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'

const reason = whyNoMount()
/** Some hundred files that do not change during the test. */
const packageDirectory = join(root, 'node_modules/zod/src')

describe.skipIf(reason !== undefined)(`programs on a mounted vault${reason ? `: ${reason}` : ''}`, () => {
  let mounted: MountedVault
  beforeAll(async () => {
    mounted = await MountedVault.create()
  })
  afterAll(async () => {
    await mounted[Symbol.asyncDispose]()
  })
  const shell = (script: string) => run('sh', '-ec', `cd "$1"; ${script}`, 'sh', mounted.path)

  it('lets git create, clone, check and pack repositories', () => {
    const identity = '-c user.name=t -c user.email=t@example.com'
    run('cp', '-r', join(root, 'src/vfs'), join(mounted.path, 'repository'))
    shell(`cd repository; git init -q .; git add .; git ${identity} commit -q -m one; git gc -q
      git clone -q --no-hardlinks . ../clone; cd ../clone; git fsck --strict; echo x >> path.ts
      git ${identity} commit -q -a -m two; git status --porcelain | wc -l`)
    expect(shell('cd clone; git status --porcelain; git log --oneline | wc -l').trim()).toBe('2')
  })

  it('returns to tar what tar has written', () => {
    const from = packageDirectory
    shell(`mkdir tar; tar -C ${from} --format=posix -c . | tar -x -C tar`)
    run('diff', '-r', from, join(mounted.path, 'tar'))
    const listing = (directory: string) =>
      run('sh', '-c', 'cd "$1"; find . -type f -printf "%P %m %s %T@\n" | sort', 'sh', directory)
    expect(listing(join(mounted.path, 'tar'))).toBe(listing(from))
  })

  it.skipIf(!hasProgram('rsync'))('leaves rsync nothing to do the second time', () => {
    shell(`mkdir sync; rsync -a ${packageDirectory} sync`)
    expect(shell(`rsync -ai ${packageDirectory} sync`)).toBe('')
  })

  it.skipIf(!hasProgram('sqlite3'))('keeps a database whole in every journal mode', () => {
    const rows = 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)'
    for (const mode of ['delete', 'truncate', 'persist', 'memory', 'wal']) {
      const script = `pragma journal_mode = ${mode}; create table t (a, b);
        ${rows} insert into t select x, randomblob(90) from c; delete from t where a % 3 = 0; vacuum;
        pragma integrity_check; select count(*) from t;`
      expect(shell(`sqlite3 ${mode}.db "${script}"`).trim().split('\n').slice(-2)).toEqual(['ok', '1334'])
    }
  })

  it.skipIf(!hasProgram('make') || !hasProgram('cc'))(
    'lets make build, and detect what is up to date',
    () => {
      const at = join(mounted.path, 'build')
      mkdirSync(at)
      const names = ['one', 'two', 'three']
      for (const name of names) writeFileSync(join(at, `${name}.c`), `int ${name}(void) { return 1; }\n`)
      writeFileSync(
        join(at, 'main.c'),
        'int one(void), two(void), three(void);\nint main(void) { return one() + two() + three() - 3; }\n',
      )
      const objects = [...names, 'main'].map((name) => `${name}.o`).join(' ')
      writeFileSync(join(at, 'Makefile'), `program: ${objects}\n\tcc -o $@ ${objects}\n`)
      shell('cd build; make -s -j2; ./program; make -q; touch one.c; ! make -q; make -s; ./program')
      expect(readdirSync(at)).toContain('program')
    },
  )

  it('stores everything that the programs created', async () => {
    shell('sync -f .')
    await using home = await openHome({ path: mounted.home })
    const vault = await home.vault('v')
    const content = await Array.fromAsync(vault.read('/tar/index.ts'))
    expect(Buffer.concat(content)).toEqual(readFileSync(join(packageDirectory, 'index.ts')))
    expect((await home.fsck()).damaged).toEqual([])
  })
})
