# Perl's own calls, its file tests and its modules for trees and temporary files.
# needs perl: package perl
# shellcheck shell=sh disable=SC2016,SC2164 # other shells expand; sh -e runs this

inside()
{
    perl -Mstrict -w -MFile::Temp=tempfile,tempdir -MFile::Path=make_path,remove_tree -MFile::Copy -MFile::Find -MCwd -e '
        make_path("a/b/c"); open my $file, ">", "a/b/file" or die $!; print $file "text\n"; close $file;
        copy("a/b/file", "a/copy") or die $!; move("a/copy", "moved") or die $!;
        symlink "b/file", "a/link" or die $!; link "moved", "hard" or die $!; rename "hard", "harder" or die $!;
        print join(",", map { -e $_ ? (-l $_ ? "link" : -d _ ? "directory" : "file") : "none" } "a", "a/link", "moved", "x"), "\n";
        my ($handle, $name) = tempfile(UNLINK => 1); print $handle "x"; my $dir = tempdir(CLEANUP => 1); mkdir "$dir/x" or die $!;
        find({ wanted => sub { print "$File::Find::name\n" if -f }, no_chdir => 1 }, "a");
        chdir "a" or die $!; print getcwd() =~ m{/(\w+)$}, "\n"; chdir ".." or die $!;
        opendir my $d, "." or die $!; print join(" ", sort grep { !/^\./ } readdir $d), "\n";
        chmod 0600, "moved"; utime 1, 2, "moved"; print join(" ", (stat "moved")[2, 7, 9]), "\n";
        print `cat moved`, system("exit 4") >> 8, "\n"; open my $pipe, "-|", "cat", "moved" or die $!; print <$pipe>; close $pipe;
        open my $none, "<", "none" or print "$!\n"; remove_tree("a"); unlink "harder" or die $!;
        my $pid = fork // die; exec "true" if !$pid; waitpid $pid, 0; print "$?\n"; exec "sh", "-c", "echo replaced";
    '
}

outside()
{
    perl -e 'open my $f, "<", "$ENV{OUT}/secret" or die "$!\n"; print <$f>; unlink "$ENV{OUT}/dir/file"'
}
