import type { OptionRow } from './option-table.ts'

/** Read-only options of programs that show the machine, its processes and its users. */
export const readOnlySystemOptions: readonly OptionRow[] = [
  ['which', '-as --all --skip-alias --skip-functions --tty-only'],
  ['whereis', '-bmsul'],
  ['whatis apropos', '-delr -s= --exact --long --regex --section= --wildcard -w'],
  ['printenv', '-0 --null'],
  [
    'ps',
    '-AadeNTflFjLHmMwycvxXrSZ -o= -O= -p= -u= -U= -C= -G= -g= -t= -s= -q= -k= --forest --sort= --no-headers --no-heading --headers --pid= --ppid= --user= --User= --format= --cols= --columns= --width= --deselect',
  ],
  [
    'pgrep',
    '-flanoxvciwLA -u= -U= -P= -g= -G= -s= -t= -d= -r= --full --list-name --list-full --newest --oldest --exact --inverse --count --ignore-case --parent= --user= --delimiter= --euid=',
  ],
  ['pstree', '-acghGlnNpsStTuUZA -H= --arguments --show-pids --long --ascii'],
  ['pidof', '-scxq -o= -S= --single-shot'],
  [
    'lsblk',
    '-abdDfJlmnpPrsStTzO -o= -e= -I= -x= --json --output= --fs --bytes --list --noheadings --paths --pairs --raw --tree? --output-all --all --nodeps --sort=',
  ],
  ['lscpu lsmem', '-aJbxyBnprsS -e? -p? -o= --json --all --extended? --parse? --online --output= --summary?'],
  [
    'netstat',
    '-atunlpreisNcgvWMx46 --tcp --udp --listening --numeric --programs --all --route --interfaces? --statistics --extend --wide --unix',
  ],
  [
    'ss',
    '-atunlpeimors46HxwdzbnOQMT -f= -A= --tcp --udp --listening --numeric --processes --all --summary --no-header --extended --info --options --memory --unix --ipv4 --ipv6 --oneline',
  ],
  ['vmstat iostat mpstat', '-adfmnstwxzkhypNACu -S= -P= -o='],
  [
    'date',
    '-uRjn -d= -f= -I? -r= -v= --date= --file= --iso-8601? --rfc-email --rfc-3339= --reference= --utc --universal --debug',
  ],
  ['hostname', '-aAdfiIsy --fqdn --short --long --domain --ip-address --all-ip-addresses'],
  ['lsof', '-nPtalUORb -i? -p= -u= -c= -F? -d= -g? -s?'],
  ['stty', '-ag'],
  [
    'uname',
    '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
  ],
  ['id', '-unGgrzaZ --user --group --groups --name --real --zero'],
  ['nproc', '--all --ignore='],
  ['tty', '-s --quiet --silent'],
  ['locale', '-amkc --all-locales --charmaps'],
  ['cal', '-13jmsyhNY -A= -B= -n='],
  ['uptime', '-ps --pretty --since'],
  ['free', '-bkmghtlwv -s= -c= --human --mega --giga --kilo --total --wide --si --bytes'],
  ['w who users', '-hsuflioaHTbdmpqrt --heading --count'],
  ['getconf', '-a -v='],
]
