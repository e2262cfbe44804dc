import { UNKNOWN } from '../shell/unknown.ts'
import { findCarriedCommands } from './carried-commands.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createEffect,
  createFinding,
  createFixedPrograms,
  createUnseenFindings,
  isStream,
  type ProgramClassifier,
  type ProgramTable,
  READS,
} from './program.ts'

const OUTSIDE = 'acts on this machine outside the workspace'

/** Jobs of the shell are safe; any other number may be a process of another user or program. */
const kill: ProgramClassifier = ({ args }) => {
  const { operands } = parseArguments(args, toOptionSet('-s --signal -n'))
  if (hasOption(parseArguments(args), '-l --list -L')) return READS
  return operands.every((target) => /^%/.test(target) || target.includes(UNKNOWN)) && operands.length > 0
    ? createEffect('mutating', 'ends a process')
    : createEffect('host_escape_risk', 'ends a process of this machine')
}

/** `cd` alone changes to the home directory. */
const cd: ProgramClassifier = ({ args }) => {
  const isHome = parseArguments(args).operands.length === 0 && !args.includes('-')
  return isHome
    ? { findings: [{ category: 'host_escape_risk', reason: 'goes to the home directory', path: '~' }] }
    : READS
}

/** Commands of sqlite that run a line, and those that read or write a file; SQL may name a database. */
const SQLITE_RUNS =
  /^[ \t]*\.(?:sh\w*|sys\w*)\s+(.*)$|^[ \t]*\.(?:o\w*|once|imp\w*|r\w*)\s[^|\n]*["']?\|\s*([^"'\n]+)|\bedit\s*\([^,()]*,\s*['"]([^'"]+)/gim
/** Commands may be abbreviated; those that are not listed take no file. */
const SQLITE_FILES =
  /^\.(?!(?:sep|mode|prompt|null|print|width|head|sh|sys)\w*\s)\w+\s+(.*)$|\b(?:attach|into)\s+(?:database\s+)?['"]([^'"]+)|\b(?:readfile|writefile|load_extension)\s*\(\s*['"]([^'"]+)/gim

/** DuckDB accepts the path of a file as a table or target. */
const SQL_PATHS = /'((?:\/|~\/|\.\.\/)[^'\s]+)'/g

const SQL_FETCHES = /\binstall\s+\w+|https?:\/\/|\bs3:\/\//i

const SQLITE_VALUES = toOptionSet('-cmd --cmd -c -s -init --init -f -separator --separator')

/** Without commands, or with an option to stay, a client waits for typed input. */
const sqlite: ProgramClassifier = ({ program, args, stdin }) => {
  const sorted = parseArguments(args, SQLITE_VALUES)
  const { operands, options } = sorted
  const isInteractive = operands.length < 2 && !options.has('-version') && stdin === undefined
  const initial = getValues(sorted, '-init --init -f')
  const read = operands.length < 2 ? [stdin ?? ''] : []
  const text = [...operands.slice(1), ...getValues(sorted, '-cmd --cmd -c -s'), ...read].join('\n')
  const tables = program === 'duckdb' ? text.matchAll(SQL_PATHS) : []
  const files = [...text.matchAll(SQLITE_FILES), ...tables].flatMap(([, ...found]) =>
    found.filter((path) => path !== undefined),
  )
  return {
    findings: [
      createFinding('mutating'),
      ...(isInteractive ? [createFinding('interactive')] : []),
      ...(initial.some(isStream) ? createUnseenFindings('what it reads') : []),
      ...(SQL_FETCHES.test(text) ? [createFinding('networked')] : []),
    ],
    runs: [...text.matchAll(SQLITE_RUNS)].map(([, ...found]) => ({ shell: found.join('') })),
    paths: [...operands.slice(0, 1), ...initial, ...files.flatMap((list) => list.split(/\s+/))],
  }
}

/** Programs that act on the machine, on its processes, or on the shell itself. */
export const system: ProgramTable = {
  ...createFixedPrograms(
    'pkill killall xkill fuser skill systemctl service launchctl rc-service initctl shutdown reboot halt poweroff init telinit mount umount fusermount fusermount3 insmod modprobe rmmod sysctl iptables ip6tables nft ufw firewall-cmd ifconfig route ip tc useradd userdel usermod groupadd groupdel passwd chpasswd visudo vipw chsh chfn crontab at batch atq loginctl hostnamectl timedatectl localectl dmesg journalctl update-alternatives ldconfig setcap getcap dpkg rpm dpkg-reconfigure kexec criu gdbserver ptrace nsenter pivot_root switch_root virsh qemu-system-x86_64 vagrant multipass defaults security keychain spctl csrutil diskutil xdg-open open start pbcopy pbpaste hwclock reptyr py-spy xclip xsel wl-copy wl-paste notify-send ssh-add ssh-agent ssh-copy-id gpg gpg2 pass secret-tool logger wall domainname nisdomainname',
    'host_escape_risk',
    OUTSIDE,
  ),
  ...createAliases(
    'docker podman nerdctl buildah docker-compose podman-compose lxc lxd machinectl systemd-nspawn apt apt-get aptitude dnf yum zypper pacman apk emerge brew port snap flatpak nix nix-env nix-shell guix choco winget scoop',
    () => ({
      findings: [createFinding('networked'), createFinding('host_escape_risk', OUTSIDE)],
    }),
  ),
  ...createAliases(
    'nano pico micro joe helix hx code cursor subl gedit info top htop btop atop nmon tmux screen dialog whiptail gum tig lazygit mc ranger nnn vifm tmuxinator lynx links w3m elinks pdb reset ncdu',
    ({ args }) => ({ ...createEffect('interactive'), runs: findCarriedCommands(args) }),
  ),
  ...createAliases('cd pushd chdir', cd),
  ...createAliases('kill', kill),
  ...createAliases('sqlite3 sqlite duckdb', sqlite),
}
