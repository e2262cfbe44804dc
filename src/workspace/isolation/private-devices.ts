import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMountLine } from './batch-mounts.ts'

/** The device files that a confined command has in /dev. */
const DEVICES: readonly string[] = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const DIRECTORIES: readonly string[] = ['shm', 'pts']
const LINKS: Readonly<Record<string, string>> = {
  ptmx: 'pts/ptmx',
  fd: '/proc/self/fd',
  stdin: 'fd/0',
  stdout: 'fd/1',
  stderr: 'fd/2',
}
/** Name of the template of /dev in the session's directory. */
const TREE_NAME = 'dev'

/**
 * Returns shell lines that give a confined command its own small /dev. They build it in /tmp and then move it over
 * the real one, because the devices are bound from there.
 */
export function createDeviceLines(directory: string): string[] {
  createDeviceTree(join(directory, TREE_NAME))
  const devices = DEVICES.map((name) => ({
    source: `/dev/${name}`,
    target: `/tmp/${name}`,
    options: ['bind'],
  }))
  return [
    'mount -n -t tmpfs -o mode=755,size=65536 tmpfs /tmp',
    `cp -R -P ${TREE_NAME}/. /tmp`,
    createMountLine(directory, 'devices', devices),
    'mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /tmp/pts 2>&- || :',
    'mount -n --move /tmp /dev',
  ]
}

/** Creates the template here, since a shell would start a process for each file. */
function createDeviceTree(tree: string): void {
  if (existsSync(tree)) return
  mkdirSync(tree)
  for (const name of DEVICES) writeFileSync(join(tree, name), '')
  for (const name of DIRECTORIES) mkdirSync(join(tree, name))
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(tree, name))
}
