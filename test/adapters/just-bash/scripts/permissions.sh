#: chmod with digits
chmod 600 a.txt; stat -c %a a.txt
#: chmod with letters
chmod u+x,g-r,o= a.txt; stat -c %a a.txt
#: chmod a+x
chmod a+x a.txt; ls -l a.txt | cut -c1-10; stat -c '%a' a.txt
#: chmod with an equals sign
chmod u=rw,go=r run.sh; stat -c %a run.sh
#: chmod of a directory
chmod 700 dir; stat -c '%a %F' dir
#: chmod recursively
chmod -R 711 dir; stat -c %a dir dir/c.md dir/sub dir/sub/d.txt
#: chmod recursively over a link
ln -s ../a.txt dir/l; chmod -R 700 dir; stat -c %a dir dir/c.md; cat a.txt
#: chmod of nothing
chmod 600 gone; echo "rc $?"
#: chmod with a wrong mode
chmod rwx a.txt; echo "rc $?"
#: chmod verbose
chmod -v 640 a.txt
#: setuid and sticky
chmod 4755 run.sh; stat -c %a run.sh; chmod 1777 dir; stat -c %a dir
#: a script is run
./run.sh
#: a script without permission is not run
chmod -x run.sh; ./run.sh; echo "rc $?"
#: a new script
printf '#!/bin/bash\necho ran "$1"\n' > s; chmod +x s; ./s arg
#: a script keeps its mode when it is rewritten
echo 'echo other' > run.sh; stat -c %a run.sh; ./run.sh
#: a script keeps its mode when it is appended to
echo 'echo more' >> run.sh; stat -c %a run.sh; ./run.sh
#: a script on the path
mkdir bin2; cp run.sh bin2/tool; PATH=$PATH:/w/bin2; tool
#: a copy keeps its mode
cp run.sh r2; stat -c %a r2
#: a move keeps its mode
chmod 604 a.txt; mv a.txt m; stat -c %a m
#: find by mode
chmod 600 a.txt; find . -perm 600; find . -type f -perm -u+x
#: tests of permissions
[ -r a.txt ] && echo r; [ -w a.txt ] && echo w; [ -x run.sh ] && echo x; [ -x a.txt ] || echo no
#: modes of new files
touch n; mkdir d2; ln -s n l2; stat -c '%a %F' n d2 l2
#: mkdir with a mode
mkdir -m 700 d2; echo "rc $?"
#: umask is told
umask; umask 077; umask
#: ls of modes
chmod 751 dir; chmod 640 a.txt; ls -l | cut -c1-10
#: install is not there
install -m 755 a.txt x; echo "rc $?"
#: sed -i keeps a mode
chmod 755 a.txt; sed -i s/a/A/ a.txt; stat -c %a a.txt
#: stat in octal and letters
chmod 2750 dir; stat -c '%a %A %n' dir
