import { boundOnItself, type HostMount, readOnlyLine } from './host-mounts.ts'
import { quote } from './quote.ts'

/**
 * No redirects: a directory that is renamed is copied, and the upper tree holds all that changed. No index: a file of
 * the base with several names becomes separate files, as it would in any copy. Volatile: nothing is forced to disk.
 */
const OPTIONS = 'redirect_dir=nofollow,index=off,metacopy=off,volatile'

/**
 * Lines of a shell that put an overlay over a directory. It is mounted from `lower` (a link to the directory), `upper`
 * and `work` in a place below the working directory: no path of a user gets into mount options, where commas and
 * colons mean something.
 */
export function overlayLines(place: string, directory: string, privilege: 'root' | 'user'): string[] {
  const layers = `lowerdir=${place}/lower,upperdir=${place}/upper,workdir=${place}/work`
  const options = `${layers},${OPTIONS}${privilege === 'user' ? ',userxattr' : ''}`
  return [
    // A volatile overlay does not take a work directory twice.
    `[ ! -e ${place}/work ] || rm -rf ${place}/work; mkdir ${place}/work`,
    `mount -n -t overlay -o ${options} overlay ${quote(directory)}`,
  ]
}

/**
 * Lines that make changes below a directory go nowhere; if that cannot be, there can be none. A user cannot have an
 * overlay over a directory in which something is mounted.
 */
export function scratchLines(
  directory: string,
  privilege: 'root' | 'user',
  mounts: readonly HostMount[],
): string[] {
  const path = quote(directory)
  const overlay = overlayLines('scratch', directory, privilege).join(' && ')
  const below = mounts.filter((mount) => mount.path.startsWith(`${directory}/`))
  const readOnly = [boundOnItself(directory, mounts), ...below].map(readOnlyLine).join('; ')
  return [
    `[ ! -e scratch ] || rm -rf scratch; mkdir -p scratch/upper; ln -s ${path} scratch/lower`,
    `{ ${overlay}; } 2>&- || { mount -n --rbind ${path} ${path}; ${readOnly}; }`,
  ]
}
