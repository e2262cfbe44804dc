import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createFixedPrograms,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'
import { readOnlyOptions } from './read-only-options.ts'

const DEVICE = 'writes to a device of this machine'
const OUTWARDS = 'follows names that may lead outside the workspace'

/** Writing to a device destroys more than a file. */
const dd: ProgramClassifier = ({ args }) => {
  const target = args.find((arg) => arg.startsWith('of='))
  if (target === undefined) return READS
  return target.startsWith('of=/dev/') && target !== 'of=/dev/null'
    ? createEffect('host_escape_risk', DEVICE)
    : createEffect('destructive', 'overwrites a file')
}

const TAR_VALUES = toOptionSet(
  '-f --file -C --directory -T --files-from -X --exclude-from --exclude --transform --xform --strip-components -I --use-compress-program --checkpoint-action --to-command -F --info-script --new-volume-script --rsh-command --rmt-command -b -g -H -K -L -N -V',
)

/** `tar cIf program a.tar`: the first word is options without a dash, and their values follow in the same order. */
function expandShortOptions([first = '', ...others]: readonly string[]): readonly string[] {
  if (!/^[A-Za-z]+$/.test(first)) return [first, ...others]
  const options = [...first].map((letter) => `-${letter}`)
  const given = options.flatMap((option) =>
    TAR_VALUES.has(option) && others.length > 0 ? [option, others.shift() ?? ''] : [option],
  )
  return [...given, ...others]
}

/** Listing only reads; several options run programs. */
const tar: ProgramClassifier = ({ args: given }) => {
  const args = expandShortOptions(given)
  const sorted = parseArguments(args, TAR_VALUES)
  const actions = getValues(sorted, '--checkpoint-action').map((action) => action.replace(/^exec=/, ''))
  const scripts = getValues(
    sorted,
    '--to-command -F --info-script --new-volume-script --rsh-command --rmt-command -I --use-compress-program',
  )
  const file = getValues(sorted, '-f --file')
  const isRemote = file.some((name) => /^[^/]+:/.test(name)) && !hasOption(sorted, '--force-local')
  const isListing =
    hasOption(sorted, '-t --list --test-label -d --diff --compare') &&
    readOnlyOptions.hasOnlyKnown('tar', args)
  const isLossy = hasOption(sorted, '--delete --remove-files')
  return {
    findings: [
      createFinding(isListing ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [createFinding('networked')] : []),
      ...(hasOption(sorted, '-P --absolute-names') ? [createFinding('host_escape_risk', OUTWARDS)] : []),
    ],
    runs: [...actions, ...scripts].map((shell) => ({ shell })),
    paths: [
      ...sorted.operands,
      ...file,
      ...getValues(sorted, '-C --directory -T --files-from -X --exclude-from --one-top-level'),
    ],
  }
}

/** A host before a colon, or a daemon's address, makes it networked. */
const rsync: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(
    args,
    toOptionSet(
      '-e --rsh -M --remote-option --exclude --include -f --filter --rsync-path --exclude-from --include-from --files-from --password-file --log-file --backup-dir --temp-dir -T --port --out-format --max-size --min-size --bwlimit',
    ),
  )
  const isRemote = sorted.operands.some((word) => /^[^/]*:|^rsync:/.test(word))
  const isLossy = [...sorted.options.keys()].some(
    (name) => name.startsWith('--del') || name === '--remove-source-files',
  )
  const isDry = hasOption(sorted, '-n --dry-run') && readOnlyOptions.hasOnlyKnown('rsync', args)
  return {
    findings: [
      createFinding(isDry ? 'read_only' : isLossy ? 'destructive' : 'mutating'),
      ...(isRemote ? [createFinding('networked')] : []),
    ],
    runs: [
      ...getValues(sorted, '-e --rsh --rsync-path'),
      // Options for the other side, which may be this machine as well.
      ...getValues(sorted, '-M --remote-option').map((option) => option.replace(/^-[^=]*=?/, '')),
    ].map((shell) => ({ shell })),
    paths: args.filter((arg) => !/^--(?:ex|in)clude=/.test(arg)),
  }
}

/** Creates a program that moves or copies without loss. Values of `words` are no paths; those of `lines` run. */
function createChanger(words = '', lines = ''): ProgramClassifier {
  const takesValue = toOptionSet(`${words} ${lines}`)
  return ({ args }) => {
    const sorted = parseArguments(args, takesValue)
    const texts = getValues(sorted, words)
    const given = getValues(sorted, lines)
    return {
      ...createEffect('mutating'),
      runs: given.map((shell) => ({ shell })),
      paths: args.filter((arg) => !texts.includes(arg) && !given.includes(arg)),
    }
  }
}

/** A symbolic link is resolved from its own directory: `ln -s ../x a/y` leads to `x`. */
const ln: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args, toOptionSet('-t --target-directory -S --suffix'))
  const [directory] = getValues(sorted, '-t --target-directory')
  if (!hasOption(sorted, '-s --symbolic') || hasOption(sorted, '-r --relative'))
    return createEffect('mutating')
  const isLast = directory === undefined && sorted.operands.length > 1
  const targets = isLast ? sorted.operands.slice(0, -1) : sorted.operands
  const link = isLast ? (sorted.operands.at(-1) ?? '') : `${directory ?? '.'}/`
  // With two operands the last may be the link itself, the worse case: its directory is then one level higher.
  const parent = targets.length > 1 ? `${link}/` : link.slice(0, link.lastIndexOf('/') + 1)
  const linkTargets = targets.map((target) => (/^[/~]/.test(target) ? target : `${parent}${target}`))
  return { ...createEffect('mutating', 'makes a link'), paths: [...linkTargets, link] }
}

/** The first operand is the mode: one that sets setuid or setgid is worse. */
const chmod: ProgramClassifier = ({ args }) => {
  const { operands } = parseArguments(args)
  const isSetuid = /^0*[2-7][0-7]{3}$|[+=][rwxXt]*s/.test(operands[0] ?? '')
  return isSetuid
    ? createEffect('host_escape_risk', 'lets others run a program as its owner')
    : createEffect('mutating')
}

const patch: ProgramClassifier = ({ args }) =>
  hasOption(parseArguments(args), '--dry-run') ? READS : createEffect('mutating')

const unzip: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args)
  if (hasOption(sorted, '-l -Z -t -v')) return READS
  return hasOption(sorted, '-:') ? createEffect('host_escape_risk', OUTWARDS) : createEffect('mutating')
}

/** `-TT` takes a line that tests the archive. */
const zip: ProgramClassifier = ({ args }) => ({
  ...createEffect('mutating'),
  runs: args.flatMap((arg, index) => {
    const [, line] = arg.match(/^(?:--unzip-c\w*=|-[a-zA-Z]*TT=?)(.+)$/s) ?? []
    const isBehind = /^(?:-[a-zA-Z]*TT|--unzip-c\w*)$/.test(args[index - 1] ?? '')
    return [...(line === undefined ? [] : [line]), ...(isBehind ? [arg] : [])].map((shell) => ({ shell }))
  }),
})

/** Lists, tests, or writes to standard output. With several modes, most packers use the last. */
const packer: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args)
  const isReading =
    hasOption(sorted, '-l --list -t --test') && !hasOption(sorted, '-d --decompress --uncompress -z')
  return isReading || hasOption(sorted, '-c --stdout --to-stdout') ? READS : createEffect('mutating')
}

const cpio: ProgramClassifier = (call) => {
  const isOutwards = hasOption(parseArguments(call.args), '--absolute-filenames --insecure')
  const effect = createChanger('', '--rsh-command')(call)
  return isOutwards
    ? { ...effect, findings: [...effect.findings, createFinding('host_escape_risk', OUTWARDS)] }
    : effect
}

/** Programs that change files. */
export const files: ProgramTable = {
  ...createAliases('cp mv mktemp link rename tee sponge', createChanger()),
  ...createAliases('touch', createChanger('-d --date -t')),
  ...createAliases('mkdir mkfifo install', createChanger('-m --mode -o --owner -g --group')),
  ...createAliases('split csplit', createChanger('-b -l -n -a', '--filter')),
  ...createAliases('gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 brotli', packer),
  ...createFixedPrograms('7z 7za ar pax setfacl setfattr dos2unix unix2dos', 'mutating'),
  ...createFixedPrograms('rm rmdir unlink shred truncate srm wipe trash trash-put rimraf del', 'destructive'),
  ...createFixedPrograms(
    'mknod mkfs mkswap fdisk parted sfdisk wipefs losetup swapon swapoff hdparm debugfs tune2fs',
    'host_escape_risk',
    DEVICE,
  ),
  ...createAliases('chmod', chmod),
  ...createFixedPrograms('chown chgrp chattr', 'mutating'),
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
