import { createWrapper } from './create-wrapper.ts'
import { createAliases, type ProgramTable } from './program.ts'

const ARCHITECTURE =
  '-3BFILRSTvXZ --3gb --4gb --32bit --addr-no-randomize --addr-compat-layout --uname-2.6 --verbose =-arm64 =-arm64e =-x86_64 =-i386'

/** Programs that run others with a priority, a limit, or other buffers; each has its options from its manual. */
export const schedulers: ProgramTable = {
  ...createAliases(
    'time',
    createWrapper('-ahlpqvV -f= -o= --format= --output= --append --portability --quiet --verbose'),
  ),
  ...createAliases(
    'timeout gtimeout',
    createWrapper('-fpv -s= -k= --preserve-status --foreground --signal= --kill-after= --verbose', [1]),
  ),
  ...createAliases('nice', createWrapper('-# -n= --adjustment=')),
  ...createAliases(
    'ionice',
    createWrapper('-t -c= -n= -p= -P= -u= --class= --classdata= --pid= --pgid= --uid= --ignore'),
  ),
  ...createAliases(
    'chrt',
    createWrapper(
      '-abdefimorRv -T= -P= -D= -p= --sched-runtime= --sched-period= --sched-deadline= --pid= --batch --deadline --fifo --idle --other --rr --reset-on-fork --all-tasks --max --verbose',
      [1],
    ),
  ),
  // The processors come as a list after `-c`, else as a first word.
  ...createAliases('taskset', createWrapper('-ac -p= --cpu-list --all-tasks --pid=', [1])),
  ...createAliases('stdbuf', createWrapper('-i= -o= -e= --input= --output= --error=')),
  ...createAliases('caffeinate', createWrapper('-dimsu -t= -w=')),
  // Limits only take attached values.
  ...createAliases(
    'prlimit',
    createWrapper(
      '-c? -d? -e? -f? -i? -l? -m? -n? -q? -r? -s? -t? -u? -v? -x? -y? -p= -o= --pid= --output= --noheadings --raw --verbose --nofile? --nproc? --as? --cpu? --core? --data? --fsize? --stack? --rss? --memlock? --nice? --rtprio? --locks? --msgqueue? --sigpending? --rttime?',
    ),
  ),
  ...createAliases('choom', createWrapper('-n= -p= --adjust= --pid=')),
  ...createAliases(
    'numactl',
    createWrapper(
      '-abdDHlstuV -i= -p= -P= -m= -N= -C= -w= -S= -f= -L= -o= -M= -I= --interleave= --weighted-interleave= --preferred= --preferred-many= --membind= --cpunodebind= --physcpubind= --localalloc --all --balancing --strict',
    ),
  ),
  ...createAliases('cgexec', createWrapper('-g= --sticky')),
  ...createAliases(
    'aa-exec',
    createWrapper('-dhiIv -p= -n= --profile= --namespace= --debug --immediate --verbose'),
  ),
  ...createAliases(
    'uclampset',
    createWrapper('-asRv -m= -M= -p= --pid= --all-tasks --system --reset-on-fork --verbose'),
  ),
  ...createAliases(
    'chpst',
    createWrapper('-vVP012 -u= -U= -b= -e= -/= -C= -n= -l= -L= -m= -d= -o= -p= -f= -c= -r= -t= -s= -a='),
  ),
  ...createAliases('softlimit', createWrapper('-m= -d= -s= -l= -a= -o= -p= -f= -c= -r= -t=')),
  ...createAliases('trickle', createWrapper('-hsvV -u= -d= -w= -t= -l= -n=')),
  ...createAliases('arch linux32 linux64 i386 x86_64 aarch64 uname26', createWrapper(ARCHITECTURE)),
}
