#: a file is written
echo hello > new; cat new
#: a file is overwritten
echo hello > a.txt; cat a.txt
#: a file is appended to
echo more >> a.txt; cat a.txt
#: appending makes a file
echo more >> fresh; cat fresh
#: appending nothing makes an empty file
: >> fresh; wc -c fresh
#: appending nothing to a file leaves it
: >> a.txt; cat a.txt
#: truncation without a command
> a.txt; wc -c < a.txt
#: missing directories are made by a redirection
echo x > p/q/r; cat p/q/r; ls p
#: standard error goes to a file
cat nothing 2> err; cat err
#: both outputs go to one file
{ echo out; cat nothing; } > both 2>&1; cat both
#: both outputs by ampersand
{ echo out; cat nothing; } &> both; cat both
#: both outputs appended by ampersand
echo first > both; { echo out; cat nothing; } &>> both; cat both
#: standard output to standard error
echo oops >&2
#: the order of redirections matters
{ echo out; echo err >&2; } 2>&1 > only-out; cat only-out
#: noclobber keeps a file
set -o noclobber; echo x > a.txt; echo "rc $?"; cat a.txt
#: noclobber is overridden
set -o noclobber; echo x >| a.txt; cat a.txt
#: noclobber allows a new file
set -o noclobber; echo x > new1; cat new1
#: a directory cannot be written
echo x > dir; echo "rc $?"
#: a directory cannot be appended to
echo x >> dir; echo "rc $?"
#: input comes from a file
wc -l < a.txt
#: input from a missing file
cat < nothing; echo "rc $?"
#: a loop reads a file
while read -r line; do echo "<$line>"; done < a.txt
#: a loop writes a file
for i in 1 2 3; do echo "$i"; done > numbers; cat numbers
#: descriptors are opened and closed
exec 3> three; echo a >&3; echo b >&3; exec 3>&-; cat three
#: a descriptor is read line by line
exec 4< a.txt; read -r one <&4; read -r two <&4; exec 4<&-; echo "$two $one"
#: a descriptor appends
exec 5>> b.txt; echo tail >&5; exec 5>&-; cat b.txt
#: a file for reading and writing
exec 6<> rw; echo x >&6; exec 6>&-; cat rw
#: output is discarded
echo x > /dev/null; echo y 2> /dev/null; echo done
#: errors are discarded
cat nothing 2> /dev/null; echo "rc $?"
#: input of nothing
cat < /dev/null; echo "rc $?"
#: a file is read and written by one command
cat a.txt > a.txt; wc -c a.txt
#: a subshell writes
(cd dir && echo inside > from-subshell); cat dir/from-subshell
#: binary bytes survive
printf '\x00\x01\xff\xfe' > bin; od -An -tx1 bin
#: binary bytes are appended
printf '\xff' > bin; printf '\xfe' >> bin; od -An -tx1 bin
#: text beyond ASCII
echo 'grüße 😀' > u; cat u; wc -c u
#: a name with spaces
echo x > 'a b'; cat 'a b'; ls
#: a name with odd characters
echo x > 'we$ird*'; ls; cat 'we$ird*'
#: a name beyond ASCII
echo x > 'größe'; ls; cat größe
#: a command fails but its file is made
nosuchcommand > made; echo "rc $?"; wc -c made
#: tee writes several
echo x | tee t1 t2 dir/t3; cat t1 t2 dir/t3
#: tee appends
echo x | tee -a b.txt; cat b.txt
#: tee cannot write a directory
echo x | tee dir; echo "rc $?"
#: a variable names the file
f=named; echo x > "$f.txt"; ls named*
#: an empty name
echo x > ""; echo "rc $?"
#: writing through a link
echo changed > link; cat a.txt; readlink link
#: appending through a link
echo more >> link; cat a.txt; readlink link
#: writing through a link to a directory
echo x > dirlink/new; ls dir; cat dir/new
#: writing below a file
echo x > a.txt/below; echo "rc $?"; cat a.txt
