#: a star
echo *
#: a star with a suffix
echo *.txt
#: a question mark
echo ?.txt
#: a set
echo [ab].txt
#: a range
echo [a-c]*
#: a negated set
echo [!a]*
#: no match stays as it is
echo *.none
#: nullglob
shopt -s nullglob; echo x *.none y
#: failglob
shopt -s failglob; echo *.none; echo "rc $?"
#: dotglob
echo x > .hidden; echo *; shopt -s dotglob; echo *
#: hidden files are named
echo x > .hidden; echo .h*
#: in a directory
echo dir/*
#: two levels
echo dir/*/*
#: globstar
shopt -s globstar; echo **/*.txt
#: globstar with directories
shopt -s globstar; echo **/
#: directories only
echo */
#: through a link to a directory
echo dirlink/*
#: extglob
shopt -s extglob; echo !(a.txt)
#: extglob with alternatives
shopt -s extglob; echo @(a|b).txt
#: nocaseglob
echo x > UPPER.TXT; shopt -s nocaseglob; echo *.txt
#: braces
touch {x,y}{1,2}; echo x* y*
#: a glob in a loop
for f in *.txt; do echo "file $f"; done
#: a glob in a variable
p='*.txt'; echo $p "$p"
#: quoted stars are text
echo '*' "*" \*
#: noglob
set -f; echo *
#: a glob as an argument of rm
rm *.txt; ls
#: a glob of names with spaces
touch 'a b' 'a c'; for f in a\ *; do echo "<$f>"; done
#: absolute
echo /w/*.txt
#: with dots on the way
echo dir/../*.txt
#: names sort by bytes
touch B a2 A1 _z 9; echo *
#: a case pattern
for f in *; do case $f in *.txt) echo "t $f";; *) echo "o $f";; esac; done
#: a broken link is listed
ln -s gone broken; echo b*
#: ls with an unmatched glob
ls *.none; echo "rc $?"
#: ls with a quoted glob
ls '*.txt'; echo "rc $?"
#: GLOBIGNORE
GLOBIGNORE='a*'; echo *
