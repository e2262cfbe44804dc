import { hasOption, sortOut, valued, valuesOf } from './options.ts'
import { always, effect, finding, named, type Program, type Programs, READS } from './program.ts'

const DEVICE = 'writes to a device of this machine'

/** Over a device it is no file that is lost. */
const dd: Program = ({ args }) => {
  const target = args.find((arg) => arg.startsWith('of='))
  if (target === undefined) return READS
  return target.startsWith('of=/dev/') && target !== 'of=/dev/null'
    ? effect('host_escape_risk', DEVICE)
    : effect('destructive', 'overwrites a file')
}

const TAR_VALUES = valued(
  '-f --file -C --directory -T --files-from -X --exclude-from --exclude --transform --xform --strip-components -I --use-compress-program --checkpoint-action --to-command -F --info-script --new-volume-script --rsh-command',
)

/** Listing only reads; several options run programs. */
const tar: Program = ({ args: given }) => {
  // `tar xzf a.tgz`: the first word is options without a dash.
  const [first = '', ...others] = given
  const args = /^[A-Za-z]+$/.test(first) ? [`-${first}`, ...others] : given
  const sorted = sortOut(args, TAR_VALUES)
  const actions = valuesOf(sorted, '--checkpoint-action').map((action) => action.replace(/^exec=/, ''))
  const scripts = valuesOf(
    sorted,
    '--to-command -F --info-script --new-volume-script --rsh-command -I --use-compress-program',
  )
  const file = valuesOf(sorted, '-f --file')
  const isRemote = file.some((name) => /^[^/]+:/.test(name)) && !hasOption(sorted, '--force-local')
  const isListing =
    hasOption(sorted, '-t --list --test-label -d --diff --compare') && !hasOption(sorted, '-x -c')
  const isLossy = hasOption(sorted, '--delete --remove-files')
  return {
    findings: [
      finding(isListing ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [finding('networked')] : []),
      ...(hasOption(sorted, '-P --absolute-names')
        ? [finding('host_escape_risk', 'takes names as they are, wherever they lead')]
        : []),
    ],
    runs: [...actions, ...scripts].map((shell) => ({ shell })),
    paths: [
      ...sorted.operands,
      ...file,
      ...valuesOf(sorted, '-C --directory -T --files-from -X --exclude-from'),
    ],
  }
}

/** A host before a colon, or a daemon's address. */
const rsync: Program = ({ args }) => {
  const sorted = sortOut(
    args,
    valued(
      '-e --rsh --exclude --include -f --filter --rsync-path --exclude-from --include-from --files-from --password-file --log-file --backup-dir --temp-dir -T --port --out-format --max-size --min-size --bwlimit',
    ),
  )
  const isRemote = sorted.operands.some((word) => /^[^/]*:|^rsync:/.test(word))
  const isLossy = [...sorted.options.keys()].some(
    (name) => name.startsWith('--del') || name === '--remove-source-files',
  )
  const isDry = hasOption(sorted, '-n --dry-run')
  return {
    findings: [
      finding(isDry ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [finding('networked')] : []),
    ],
    runs: valuesOf(sorted, '-e --rsh --rsync-path').map((shell) => ({ shell })),
    paths: args.filter((arg) => !/^--(?:ex|in)clude=/.test(arg)),
  }
}

const LINE_TEXT = valued('-s --suffix -m --mode -t --target-directory -S -r --reference -d --date')

/** Moves and copies keep what they had; a shred or a truncation does not. */
const changer: Program = ({ args }) => {
  const sorted = sortOut(args, LINE_TEXT)
  const modes = valuesOf(sorted, '-m --mode -d --date -s')
  return { ...effect('mutating'), paths: args.filter((arg) => !modes.includes(arg)) }
}

/** The first operand is a mode or an owner. */
const chmod: Program = ({ args }) => {
  const { operands } = sortOut(args)
  const isSetuid = /^[0-7]?[4-7][0-7]{3}$|[ugoa]*\+[rwxX]*s/.test(operands[0] ?? '')
  return isSetuid ? effect('host_escape_risk', 'lets others run a program as its owner') : effect('mutating')
}

const patch: Program = ({ args }) => (hasOption(sortOut(args), '--dry-run') ? READS : effect('mutating'))

const unzip: Program = ({ args }) => (hasOption(sortOut(args), '-l -Z -t -v') ? READS : effect('mutating'))

/** Programs that change files. */
export const files: Programs = {
  ...named('cp mv ln touch mkdir install mkfifo mktemp link rename split csplit tee sponge', changer),
  ...always(
    'gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli zip 7z 7za ar cpio pax setfacl setfattr dos2unix unix2dos ed',
    'mutating',
  ),
  ...always('rm rmdir unlink shred truncate srm wipe trash trash-put rimraf del', 'destructive'),
  ...always(
    'mknod mkfs mkswap fdisk parted sfdisk wipefs losetup swapon swapoff hdparm debugfs tune2fs',
    'host_escape_risk',
    DEVICE,
  ),
  ...named('chmod', chmod),
  ...always('chown chgrp chattr', 'mutating'),
  dd,
  tar,
  bsdtar: tar,
  rsync,
  patch,
  unzip,
}
