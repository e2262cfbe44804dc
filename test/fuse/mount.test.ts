import {
  appendFileSync,
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { listFuseMounts, sweepStaleMounts } from '../../src/fuse/index.ts'
import { programFile } from '../support/program-file.ts'
import { run, whyNotNobody } from '../support/tools.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount()

describe.skipIf(reason !== undefined)(`a mounted vault${reason ? `: ${reason}` : ''}`, () => {
  it('shows what others write, rename and remove, also where it said there is nothing', async () => {
    await using mounted = await MountedVault.create()
    await using home = await openHome({ path: mounted.home })
    const vault = await home.vault('v')
    const file = join(mounted.path, 'd/f')
    expect(existsSync(file)).toBe(false)
    await vault.write('/d/f', 'one', { parents: true })
    await until(() => existsSync(file) && readFileSync(file, 'utf8') === 'one')
    await vault.write('/d/f', 'another')
    await until(() => readFileSync(file, 'utf8') === 'another' && statSync(file).size === 7)
    await vault.write('/d/g', '')
    await until(() => readdirSync(join(mounted.path, 'd')).length === 2)
    await vault.remove('/d', { recursive: true })
    await until(() => !existsSync(file) && readdirSync(mounted.path).length === 0)
  })

  it('is the same in two places', async () => {
    await using mounted = await MountedVault.create()
    const [one, other] = [mounted.path, (await mounted.mount()).directory]
    expect(readdirSync(other)).toEqual([])
    writeFileSync(join(one, 'f'), 'one')
    await until(() => existsSync(join(other, 'f')) && readFileSync(join(other, 'f'), 'utf8') === 'one')
    appendFileSync(join(other, 'f'), ' and other')
    await until(() => readFileSync(join(one, 'f'), 'utf8') === 'one and other')
    renameSync(join(one, 'f'), join(one, 'g'))
    await until(() => readdirSync(other).join() === 'g')
  })

  it('lets only one of two places make a name', async () => {
    await using mounted = await MountedVault.create()
    const places = [mounted.path, (await mounted.mount()).directory]
    for (let round = 0; round < 20; round++) {
      const won = places.filter((place) => isMade(join(place, `lock-${round}`)))
      expect(won).toHaveLength(1)
    }
  })

  it('has closed and synced files in the vault for every later open, and soon for homes that are open', async () => {
    await using mounted = await MountedVault.create()
    await using open = await openHome({ path: mounted.home })
    writeFileSync(join(mounted.path, 'closed'), 'closed')
    await using opened = await openHome({ path: mounted.home })
    expect(await contentOf(opened, '/closed')).toBe('closed')
    writeFileSync(join(mounted.path, 'later'), 'later')
    await until(async () => await (await open.vault('v')).exists('/later'))
    const fd = openSync(join(mounted.path, 'synced'), 'w')
    writeSync(fd, 'synced')
    run('sync', join(mounted.path, 'synced'))
    expect(await contentOf(open, '/synced')).toBe('synced')
    closeSync(fd)
  })

  it('can be mounted so that nothing is changed', async () => {
    await using mounted = await MountedVault.create()
    writeFileSync(join(mounted.path, 'f'), 'x')
    const { directory } = await mounted.mount({ isReadOnly: true })
    expect(readFileSync(join(directory, 'f'), 'utf8')).toBe('x')
    expect(() => writeFileSync(join(directory, 'f'), 'y')).toThrow('EROFS')
  })

  it('is not unmounted while somebody is in it, and ends when it is', async () => {
    await using mounted = await MountedVault.create()
    const [mount] = mounted.mounts
    const fd = openSync(join(mounted.path, 'f'), 'w')
    await expect(mount?.unmount()).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
    closeSync(fd)
    await mount?.unmount()
    expect(listFuseMounts().map(({ directory }) => directory)).not.toContain(mounted.path)
  })

  it('loses nothing that was closed when its server is killed, and is swept away', async () => {
    await using mounted = await MountedVault.create()
    const directory = join(mounted.home, '../served')
    mkdirSync(directory)
    await using server = await ServerProcess.start(mounted.home, directory)
    mkdirSync(join(directory, 'd'))
    for (let index = 0; index < 20; index++)
      writeFileSync(join(directory, 'd', `${index}`), `content ${index}`)
    // The kernel may remember this, and tell it whether or not the server is there.
    statSync(directory)
    await server.kill()
    // A test that mounts at the same moment sweeps this mount away too; then there is no such file.
    expect(() => statSync(join(directory, 'd'))).toThrow(/ENOTCONN|ECONNABORTED|ENOENT/)
    await sweepStaleMounts()
    expect(listFuseMounts().map((mount) => mount.directory)).not.toContain(directory)
    expect(readdirSync(directory)).toEqual([])
    await using home = await openHome({ path: mounted.home })
    for (let index = 0; index < 20; index++)
      expect(await contentOf(home, `/d/${index}`)).toBe(`content ${index}`)
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'is there for an ordinary user in a namespace of their own, and for nobody else',
    async () => {
      await using mounted = await MountedVault.create()
      const scratch = join(mounted.home, '../own')
      mkdirSync(scratch)
      chmodSync(scratch, 0o777)
      const server = programFile('serve-vault')
      const seen = run('unshare', '-m', 'sh', '-ec', ORDINARY_USER, process.execPath, scratch, server)
      expect(seen.trim()).toBe('mine: content')
      expect(readdirSync(join(scratch, 'mount'))).toEqual([])
      await using home = await openHome({ path: join(scratch, 'home') })
      expect(await contentOf(home, '/f')).toBe('content\n')
    },
  )

  it('refuses extended attributes if it has none, and everything else works', async () => {
    await using mounted = await MountedVault.create()
    const { directory } = await mounted.mount({ withoutXattrs: true })
    const file = join(directory, 'f')
    writeFileSync(file, 'content')
    const attempt =
      'import os, sys\ntry: os.setxattr(sys.argv[1], "user.a", b"b")\nexcept OSError as e: print(e.strerror)'
    expect(run('python3', '-c', attempt, file).trim()).toBe('Operation not supported')
    expect(run('python3', '-c', attempt, join(mounted.path, 'f')).trim()).toBe('')
    run('chown', '1', file)
    expect(statSync(file)).toMatchObject({ uid: 1, size: 7 })
  })

  it('ends by itself when somebody else unmounts it', async () => {
    await using mounted = await MountedVault.create()
    run('umount', mounted.path)
    await mounted.mounts[0]?.ended
  })
})

/** As on a machine where everybody may open the device: $0 is Node, $1 a directory for all, $2 the server. */
const ORDINARY_USER = `
mknod "$1/fuse" c 10 229; chmod 666 "$1/fuse"; mount --bind "$1/fuse" /dev/fuse
exec setpriv --reuid=65534 --regid=65534 --clear-groups unshare -Urm sh -ec '
  mkdir "$1/mount"
  "$0" "$2" "$1/home" "$1/mount" > "$1/said" &
  until grep -q mounted "$1/said"; do kill -0 $!; done
  echo content > "$1/mount/f"
  echo "mine: $(cat "$1/mount/f")"
  umount "$1/mount"; wait
' "$0" "$1" "$2"
`

/** Waits for what another thread or process brings about; the test's own time limit ends it. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(5)
}

async function contentOf(home: Home, path: string): Promise<string> {
  const vault = await home.vault('v')
  return Buffer.concat(await Array.fromAsync(vault.read(path))).toString()
}

/** Whether a name was there to be made. */
function isMade(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}
