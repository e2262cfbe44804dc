import { actsAsOtherUser, createWrapper, leavesEnvironment } from './create-wrapper.ts'
import { getValues, parseArguments, toOptionSet } from './options.ts'
import { createAliases, type ProgramClassifier, type ProgramTable } from './program.ts'

/** Creates a program such as `su`, with an option that takes a line. */
function createOptionRunner(option: string, own: ProgramClassifier): ProgramClassifier {
  return (call) => {
    const sorted = parseArguments(call.args, toOptionSet(`${option} -s --shell -g -G -u`))
    return { ...own(call), runs: getValues(sorted, option).map((shell) => ({ shell })) }
  }
}

/** Programs that run others as another user, or outside of the environment of the command. */
export const actors: ProgramTable = {
  ...createAliases(
    'sudo',
    createWrapper(
      '-ABbEeHiKklnPSsVv -u= -g= -C= -D= -p= -r= -t= -T= -U= -R= --user= --group= --chdir= --chroot= --prompt= --preserve-env? --non-interactive --background --login --shell --stdin --set-home',
      [0],
      actsAsOtherUser,
    ),
  ),
  ...createAliases('doas', createWrapper('-Lns -u= -C= -a=', [0], actsAsOtherUser)),
  ...createAliases('pkexec runuser setpriv', createWrapper('-u= --user=', [0], actsAsOtherUser)),
  ...createAliases('gosu su-exec', createWrapper('', [1], actsAsOtherUser)),
  ...createAliases('su', createOptionRunner('-c --command', actsAsOtherUser)),
  ...createAliases('chroot', createWrapper('', [1], leavesEnvironment)),
  ...createAliases(
    'nsenter unshare bwrap firejail proot fakeroot fakechroot setarch',
    createWrapper('-t= -S= -G= -R= -w= --target= --bind= --ro-bind= --dev= --proc=', [0], leavesEnvironment),
  ),
  ...createAliases(
    'systemd-run',
    createWrapper(
      '-p= -u= -t --unit= --property= -E= --setenv= --user --scope --pty --wait --pipe',
      [0],
      leavesEnvironment,
    ),
  ),
  ...createAliases('capsh', (call) => ({
    ...leavesEnvironment(call),
    runs: getValues(parseArguments(call.args, toOptionSet('-c')), '-c').map((shell) => ({ shell })),
  })),
}
