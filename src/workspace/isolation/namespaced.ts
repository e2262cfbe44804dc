import { dirname } from 'node:path'
import { type Confinement, EMPTY_FILE, type HiddenPlace, isWithin } from './confinement.ts'
import { type HostMount, readOnlyLine } from './host-mounts.ts'
import { keptCapabilities, kernelSettings, privateDirectories } from './plan.ts'
import { quote } from './quote.ts'

/** All of /dev that a confined command has. */
const DEVICES: readonly string[] = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/** The lines that confine what comes after them in an enclosure, where bubblewrap is not installed. */
export function confiningLines(confinement: Confinement, mounts: readonly HostMount[]): string[] {
  const { workspace, scratch, shown, limits } = confinement
  const isLost = scratch !== undefined && privateDirectories.some((place) => isWithin(scratch, place))
  const isCovered = (path: string) =>
    ['/proc', '/dev', workspace, scratch].some((place) => place !== undefined && isWithin(path, place))
  return [
    ...mounts.filter(({ path }) => !isCovered(path)).map(readOnlyLine),
    ...kernelSettings.map(settledLine),
    ...shown.map((path, index) => `cp ${quote(path)} shown-${index}`),
    ...(isLost ? [`exec 5<${quote(scratch)}`] : []),
    ...deviceLines(),
    ...privateDirectories.map((path) => inMemory(path, `mode=1777,size=${limits.scratchBytes}`)),
    ...(isLost ? [broughtBack(scratch)] : []),
    ...shown.map((path, index) => `mkdir -p ${quote(dirname(path))}; cp shown-${index} ${quote(path)}`),
    ...confinement.hidden
      .filter(({ path }) => isWithin(workspace, path))
      .map(({ path }) => inMemory(path, 'size=4096')),
  ]
}

/** The lines for what is hidden inside the workspace or beside it, once the workspace is in its place. */
export function hidingLines({ hidden, workspace }: Confinement): string[] {
  return hidden.filter(({ path }) => !isWithin(workspace, path)).map(hide)
}

/** The words before a command that take away what the enclosure gave it. */
export function droppingWords({ privilege, user }: Confinement): string[] {
  const kept = keptCapabilities.map((name) => `+${name}`).join(',')
  return privilege === 'user'
    ? [...asThemself(user), 'setpriv', '--no-new-privs', '--']
    : ['setpriv', '--no-new-privs', `--bounding-set=-all,${kept}`, '--inh-caps=-all', '--']
}

/** The words before a command that make a user, who is root in an enclosure, themself again. */
export function asThemself({ uid, gid }: { readonly uid: number; readonly gid: number }): string[] {
  return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
}

function settledLine(path: string): string {
  return `[ ! -e ${path} ] || { mount -n --bind ${path} ${path} && mount -n -o remount,bind,ro ${path}; }`
}

function hide({ path, isDirectory }: HiddenPlace): string {
  if (isDirectory) return inMemory(path, 'size=4096,ro')
  // By its name in the working directory: the path to that may be covered by now.
  const [file, bind] = [quote(path), `mount -n --no-canonicalize --bind ${EMPTY_FILE}`]
  return `[ ! -e ${file} ] || { ${bind} ${file} && mount -n -o remount,bind,ro ${file}; }`
}

/** A home below a private directory was held open meanwhile, as the workspace is. */
function broughtBack(path: string): string {
  return `mkdir -p ${quote(path)} && mount -n --no-canonicalize --bind /proc/self/fd/5 ${quote(path)} && exec 5<&-`
}

function inMemory(path: string, options: string): string {
  return `[ ! -d ${quote(path)} ] || mount -n -t tmpfs -o ${options} tmpfs ${quote(path)}`
}

/** Made beside the real ones and then put over them, since they are bound from there. */
function deviceLines(): string[] {
  return [
    'mount -n -t tmpfs -o mode=755,size=65536 tmpfs /tmp',
    `for device in ${DEVICES.join(' ')}; do : > /tmp/$device; mount -n --bind /dev/$device /tmp/$device; done`,
    'mkdir /tmp/shm /tmp/pts; ln -s pts/ptmx /tmp/ptmx',
    'mount -n -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts /tmp/pts 2>&- || :',
    'ln -s /proc/self/fd /tmp/fd; ln -s fd/0 /tmp/stdin; ln -s fd/1 /tmp/stdout; ln -s fd/2 /tmp/stderr',
    'mount -n --move /tmp /dev',
  ]
}
