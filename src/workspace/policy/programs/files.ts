import { hasOption, sortOut, valued, valuesOf } from './options.ts'
import { always, effect, finding, named, type Program, type Programs, READS } from './program.ts'
import { readingOptions } from './reading-options.ts'

const DEVICE = 'writes to a device of this machine'
const OUTWARDS = 'takes names as they are, wherever they lead'

/** Over a device it is no file that is lost. */
const dd: Program = ({ args }) => {
  const target = args.find((arg) => arg.startsWith('of='))
  if (target === undefined) return READS
  return target.startsWith('of=/dev/') && target !== 'of=/dev/null'
    ? effect('host_escape_risk', DEVICE)
    : effect('destructive', 'overwrites a file')
}

const TAR_VALUES = valued(
  '-f --file -C --directory -T --files-from -X --exclude-from --exclude --transform --xform --strip-components -I --use-compress-program --checkpoint-action --to-command -F --info-script --new-volume-script --rsh-command --rmt-command -b -g -H -K -L -N -V',
)

/** `tar cIf program a.tar`: the first word is options without a dash, and their values follow in the same order. */
function spelledOut([first = '', ...others]: readonly string[]): readonly string[] {
  if (!/^[A-Za-z]+$/.test(first)) return [first, ...others]
  const options = [...first].map((letter) => `-${letter}`)
  const given = options.flatMap((option) =>
    TAR_VALUES.has(option) && others.length > 0 ? [option, others.shift() ?? ''] : [option],
  )
  return [...given, ...others]
}

/** Listing only reads; several options run programs. */
const tar: Program = ({ args: given }) => {
  const args = spelledOut(given)
  const sorted = sortOut(args, TAR_VALUES)
  const actions = valuesOf(sorted, '--checkpoint-action').map((action) => action.replace(/^exec=/, ''))
  const scripts = valuesOf(
    sorted,
    '--to-command -F --info-script --new-volume-script --rsh-command --rmt-command -I --use-compress-program',
  )
  const file = valuesOf(sorted, '-f --file')
  const isRemote = file.some((name) => /^[^/]+:/.test(name)) && !hasOption(sorted, '--force-local')
  const isListing =
    hasOption(sorted, '-t --list --test-label -d --diff --compare') && readingOptions.knows('tar', args)
  const isLossy = hasOption(sorted, '--delete --remove-files')
  return {
    findings: [
      finding(isListing ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [finding('networked')] : []),
      ...(hasOption(sorted, '-P --absolute-names') ? [finding('host_escape_risk', OUTWARDS)] : []),
    ],
    runs: [...actions, ...scripts].map((shell) => ({ shell })),
    paths: [
      ...sorted.operands,
      ...file,
      ...valuesOf(sorted, '-C --directory -T --files-from -X --exclude-from --one-top-level'),
    ],
  }
}

/** A host before a colon, or a daemon's address. */
const rsync: Program = ({ args }) => {
  const sorted = sortOut(
    args,
    valued(
      '-e --rsh -M --remote-option --exclude --include -f --filter --rsync-path --exclude-from --include-from --files-from --password-file --log-file --backup-dir --temp-dir -T --port --out-format --max-size --min-size --bwlimit',
    ),
  )
  const isRemote = sorted.operands.some((word) => /^[^/]*:|^rsync:/.test(word))
  const isLossy = [...sorted.options.keys()].some(
    (name) => name.startsWith('--del') || name === '--remove-source-files',
  )
  const isDry = hasOption(sorted, '-n --dry-run') && readingOptions.knows('rsync', args)
  return {
    findings: [
      finding(isDry ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [finding('networked')] : []),
    ],
    runs: [
      ...valuesOf(sorted, '-e --rsh --rsync-path'),
      // What the other side is told: it may be this machine as well.
      ...valuesOf(sorted, '-M --remote-option').map((option) => option.replace(/^-[^=]*=?/, '')),
    ].map((shell) => ({ shell })),
    paths: args.filter((arg) => !/^--(?:ex|in)clude=/.test(arg)),
  }
}

/** Moves and copies keep what they had. Values of some options are words, and some hold a line. */
function changer(words = '', lines = ''): Program {
  const takesValue = valued(`${words} ${lines}`)
  return ({ args }) => {
    const sorted = sortOut(args, takesValue)
    const texts = valuesOf(sorted, words)
    const given = valuesOf(sorted, lines)
    return {
      ...effect('mutating'),
      runs: given.map((shell) => ({ shell })),
      paths: args.filter((arg) => !texts.includes(arg) && !given.includes(arg)),
    }
  }
}

/** A symbolic link is read from where it stands: `ln -s ../x a/y` leads to `x`. */
const ln: Program = ({ args }) => {
  const sorted = sortOut(args, valued('-t --target-directory -S --suffix'))
  const [directory] = valuesOf(sorted, '-t --target-directory')
  if (!hasOption(sorted, '-s --symbolic') || hasOption(sorted, '-r --relative')) return effect('mutating')
  const isLast = directory === undefined && sorted.operands.length > 1
  const targets = isLast ? sorted.operands.slice(0, -1) : sorted.operands
  const link = isLast ? (sorted.operands.at(-1) ?? '') : `${directory ?? '.'}/`
  // Of two operands the last may be the link itself, which is the worse case: then it stands one directory higher.
  const at = targets.length > 1 ? `${link}/` : link.slice(0, link.lastIndexOf('/') + 1)
  const led = targets.map((target) => (/^[/~]/.test(target) ? target : `${at}${target}`))
  return { ...effect('mutating', 'makes a link'), paths: [...led, link] }
}

/** The first operand is a mode or an owner. */
const chmod: Program = ({ args }) => {
  const { operands } = sortOut(args)
  const isSetuid = /^0*[2-7][0-7]{3}$|[+=][rwxXt]*s/.test(operands[0] ?? '')
  return isSetuid ? effect('host_escape_risk', 'lets others run a program as its owner') : effect('mutating')
}

const patch: Program = ({ args }) => (hasOption(sortOut(args), '--dry-run') ? READS : effect('mutating'))

const unzip: Program = ({ args }) => {
  const sorted = sortOut(args)
  if (hasOption(sorted, '-l -Z -t -v')) return READS
  return hasOption(sorted, '-:') ? effect('host_escape_risk', OUTWARDS) : effect('mutating')
}

/** `-TT` is a line that tests what was written. */
const zip: Program = ({ args }) => ({
  ...effect('mutating'),
  runs: args.flatMap((arg, index) => {
    const [, line] = arg.match(/^(?:--unzip-c\w*=|-[a-zA-Z]*TT=?)(.+)$/s) ?? []
    const isBehind = /^(?:-[a-zA-Z]*TT|--unzip-c\w*)$/.test(args[index - 1] ?? '')
    return [...(line === undefined ? [] : [line]), ...(isBehind ? [arg] : [])].map((shell) => ({ shell }))
  }),
})

/** Lists, tests, or writes to standard output. Of several things to do, most of them do the last. */
const packer: Program = ({ args }) => {
  const sorted = sortOut(args)
  const isTelling =
    hasOption(sorted, '-l --list -t --test') && !hasOption(sorted, '-d --decompress --uncompress -z')
  return isTelling || hasOption(sorted, '-c --stdout --to-stdout') ? READS : effect('mutating')
}

const cpio: Program = (call) => {
  const isOutwards = hasOption(sortOut(call.args), '--absolute-filenames --insecure')
  const told = changer('', '--rsh-command')(call)
  return isOutwards ? { ...told, findings: [...told.findings, finding('host_escape_risk', OUTWARDS)] } : told
}

/** Programs that change files. */
export const files: Programs = {
  ...named('cp mv mktemp link rename tee sponge', changer()),
  ...named('touch', changer('-d --date -t')),
  ...named('mkdir mkfifo install', changer('-m --mode -o --owner -g --group')),
  ...named('split csplit', changer('-b -l -n -a', '--filter')),
  ...named('gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli', packer),
  ...always('7z 7za ar pax setfacl setfattr dos2unix unix2dos', 'mutating'),
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
  ln,
  patch,
  unzip,
  zip,
  cpio,
}
