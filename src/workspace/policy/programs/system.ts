import { UNKNOWN } from '../shell/word.ts'
import { hasOption, sortOut, valued } from './options.ts'
import { always, effect, finding, named, type Program, type Programs, READS } from './program.ts'

const OUTSIDE = 'acts on this machine outside the workspace'

/** Its own jobs are fine; any other number may be a process of somebody else. */
const kill: Program = ({ args }) => {
  const { operands } = sortOut(args, valued('-s --signal -n'))
  if (hasOption(sortOut(args), '-l --list -L')) return READS
  return operands.every((target) => /^%/.test(target) || target.includes(UNKNOWN)) && operands.length > 0
    ? effect('mutating', 'ends a process')
    : effect('host_escape_risk', 'ends a process of this machine')
}

/** `cd` alone goes home. */
const cd: Program = ({ args }) => {
  const isHome = sortOut(args).operands.length === 0 && !args.includes('-')
  return isHome
    ? { findings: [{ category: 'host_escape_risk', reason: 'goes to the home directory', path: '~' }] }
    : READS
}

/** Without anything to do, or asked to stay, a client waits for somebody to type. */
const sqlite: Program = ({ args }) => {
  const { operands, options } = sortOut(args, valued('-cmd -init -separator'))
  const isInteractive = operands.length < 2 && !options.has('-version')
  const lines = operands.slice(1).filter((line) => /^\.(?:shell|system)\b/.test(line))
  return {
    findings: [finding('mutating'), ...(isInteractive ? [finding('interactive')] : [])],
    runs: lines.map((line) => ({ shell: line.replace(/^\.\w+\s*/, '') })),
  }
}

/** Programs that act on the machine, on its processes, or on the shell itself. */
export const system: Programs = {
  ...always(
    'pkill killall xkill fuser skill systemctl service launchctl rc-service initctl shutdown reboot halt poweroff init telinit mount umount fusermount fusermount3 insmod modprobe rmmod sysctl iptables ip6tables nft ufw firewall-cmd ifconfig route ip tc useradd userdel usermod groupadd groupdel passwd chpasswd visudo vipw chsh chfn crontab at batch atq loginctl hostnamectl timedatectl localectl dmesg journalctl update-alternatives ldconfig setcap getcap dpkg rpm dpkg-reconfigure kexec criu gdbserver ptrace nsenter pivot_root switch_root virsh qemu-system-x86_64 vagrant multipass defaults security keychain spctl csrutil diskutil xdg-open open start pbcopy pbpaste xclip xsel wl-copy wl-paste notify-send ssh-add ssh-agent ssh-copy-id gpg gpg2 pass secret-tool',
    'host_escape_risk',
    OUTSIDE,
  ),
  ...named(
    'docker podman nerdctl buildah docker-compose podman-compose lxc lxd machinectl systemd-nspawn apt apt-get aptitude dnf yum zypper pacman apk emerge brew port snap flatpak nix nix-env nix-shell guix choco winget scoop',
    () => ({
      findings: [finding('networked'), finding('host_escape_risk', OUTSIDE)],
    }),
  ),
  ...always(
    'vi vim nvim nano emacs emacsclient pico micro joe helix hx code cursor subl gedit less more most man info top htop btop atop nmon tmux screen dialog whiptail fzf sk gum tig lazygit mc ranger nnn vifm tmuxinator lynx links w3m elinks gdb lldb pdb reset ncdu',
    'interactive',
  ),
  ...named('cd pushd chdir', cd),
  ...named('kill', kill),
  ...named('sqlite3 sqlite', sqlite),
}
