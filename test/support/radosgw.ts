import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, S3Server } from './s3-server.ts'

const run = promisify(execFile)
const programs = ['ceph-authtool', 'monmaptool', 'ceph-mon', 'ceph', 'ceph-osd', 'radosgw-admin', 'radosgw']

/** Whether Debian's packages ceph-mon, ceph-osd and radosgw are installed, for which 240 MB are needed. */
export const hasRadosgw: boolean = programs.every((program) => {
  try {
    accessSync(join('/usr/bin', program), constants.X_OK)
    return true
  } catch {
    return false
  }
})

/** Ceph's gateway over a cluster of one monitor and one store in memory, on loopback, in about 13 seconds. */
export async function startRadosgw(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'coppice-radosgw-'))
  for (const name of ['mon', 'osd', 'rgw']) await mkdir(join(directory, name))
  const [monitorPort, port] = [await freePort(), await freePort()]
  const cluster = randomUUID()
  await writeFile(join(directory, 'ceph.conf'), configuration(directory, cluster, monitorPort, port))
  await makeKeys(join(directory, 'keyring'))

  const settings = ['-c', join(directory, 'ceph.conf')]
  const daemon = (program: string, ...args: string[]): ChildProcess =>
    spawn(program, [...settings, ...args, '-f'], { stdio: 'ignore' })
  const map = join(directory, 'monmap')
  await run('monmaptool', [
    '--create',
    '--fsid',
    cluster,
    '--addv',
    'a',
    `[v2:127.0.0.1:${monitorPort}]`,
    map,
  ])
  await run('ceph-mon', [...settings, '--mkfs', '-i', 'a', '--monmap', map])
  const monitor = daemon('ceph-mon', '-i', 'a')
  const disk = randomUUID()
  await run('ceph', [...settings, 'osd', 'new', disk])
  await run('ceph-osd', [...settings, '-i', '0', '--mkfs', '--osd-uuid', disk])
  const store = daemon('ceph-osd', '-i', '0')
  const user = ['--uid=test', '--display-name=test', '--access-key=S3RVER', '--secret=S3RVER']
  await run('radosgw-admin', [...settings, 'user', 'create', ...user])
  const gateway = daemon('radosgw', '-n', 'client.admin')
  const server = new S3Server(`http://127.0.0.1:${port}`, [gateway, store, monitor], directory)
  await server.answers()
  return server
}

async function makeKeys(keyring: string): Promise<void> {
  const all = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *']
  await run('ceph-authtool', [
    keyring,
    '--create-keyring',
    '--gen-key',
    '-n',
    'mon.',
    '--cap',
    'mon',
    'allow *',
  ])
  await run('ceph-authtool', [keyring, '--gen-key', '-n', 'client.admin', ...all])
  await run('ceph-authtool', [keyring, '--gen-key', '-n', 'osd.0', ...all])
}

function configuration(directory: string, cluster: string, monitorPort: number, port: number): string {
  return `[global]
fsid = ${cluster}
mon host = [v2:127.0.0.1:${monitorPort}]
public addr = 127.0.0.1
keyring = ${directory}/keyring
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon data = ${directory}/mon
osd data = ${directory}/osd
osd objectstore = memstore
rgw data = ${directory}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw run sync thread = false
rgw dynamic resharding = false
run dir = ${directory}
admin socket = ${directory}/$name.asok
log file = ${directory}/$type.$id.log
pid file = ${directory}/$type.$id.pid
crash dir = ${directory}
`
}
